// Performance: the run's clock, as coarse as the host gives it. It stands still while the guest computes.

const coarseNow = () => max(0, nativeNow() - nativeStartedAt());

class Performance {
  constructor() {
    if (arguments[0] !== performanceMaker) throw new TypeError('Illegal constructor');
  }
  get timeOrigin() { return nativeStartedAt(); }
  now() { return coarseNow(); }
  toJSON() { return { timeOrigin: nativeStartedAt() }; }
}
const performanceMaker = freeze({ __proto__: null });
publish(Performance);
showAs(Performance, () => ({ fields: { timeOrigin: nativeStartedAt() } }));
defineGlobal('performance', new Performance(performanceMaker));
