// Performance: the run's clock, as coarse as the host gives it. It stands still while the guest computes.

/** `what` is what the program called; without it this is for our own ends, and 0 where time is banned. */
const coarseNow = (what) => max(0, nativeNow(what) - nativeStartedAt(what));

class Performance {
  constructor() {
    if (arguments[0] !== performanceMaker) throw new TypeError('Illegal constructor');
  }
  get timeOrigin() { return nativeStartedAt('performance.timeOrigin'); }
  now() { return coarseNow('performance.now()'); }
  toJSON() { return { timeOrigin: nativeStartedAt('performance.toJSON()') }; }
}
const performanceMaker = freeze({ __proto__: null });
publish(Performance);
showAs(Performance, () => ({ fields: { timeOrigin: nativeStartedAt() } }));
defineGlobal('performance', new Performance(performanceMaker));
