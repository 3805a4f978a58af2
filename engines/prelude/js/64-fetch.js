// fetch: defined in a program only where egress was granted. Everything it does is asked of the host.

let requestCount = 0; // the host knows a request by the number that the guest gave it

/** The list goes out as JSON, so neither it nor its pairs have a prototype that a program could give a `toJSON`. */
function headersForHost(headers) {
  const sorted = sortedHeaders(headers);
  const list = newList();
  for (let i = 0; i < sorted.length; i++) {
    const pair = newList();
    push(pair, sorted[i][0]);
    push(pair, sorted[i][1]);
    push(list, pair);
  }
  return list;
}

/** The body of a response, which an abort turns into an error. */
function responseSource(id, signal) {
  let over = false;
  let aborted = false;
  let failRead = ignore;
  const end = () => {
    over = true;
    offAbort(signal, onAborted);
  };
  const onAborted = () => {
    end();
    aborted = true;
    dropBody(id);
    failRead(reasonOf(signal));
  };
  onAbort(signal, onAborted);
  return {
    __proto__: null,
    whole: undefined,
    next: () => new Promise((resolve, reject) => {
      if (aborted) reject(reasonOf(signal));
      else if (over) resolve(NO_BYTES);
      else {
        failRead = reject;
        whenSettled(nativeReadBody(id, HOST_BODY_CHUNK_BYTES), (chunk) => {
          if (!over && typedLength(chunk) === 0) end();
          resolve(chunk);
        }, (error) => {
          if (!over) end();
          reject(error);
        });
      }
    }),
    cancel: () => {
      if (over) return;
      end();
      dropBody(id);
    },
  };
}

function makeResponse(reply, signal) {
  if (reply.body === null) return responseFromHost(reply, null);
  if (!NULL_BODY_STATUS[reply.status]) return responseFromHost(reply, responseSource(reply.body, signal));
  dropBody(reply.body);
  return responseFromHost(reply, null);
}

/** Sends a body chunk by chunk; the next one is asked for when the host has room. */
async function sendBody(number, source, exchange) {
  const most = max(1, nativePayloadMax() - CALL_OVERHEAD_BYTES);
  const write = (bytes, last) => nativeAsk({ __proto__: null, kind: 'write_body', request: number, last }, bytes);
  for (;;) {
    const chunk = await source.next();
    if (exchange.over) return;
    const size = typedLength(chunk);
    for (let at = 0; at < size; at += most) {
      exchange.writing = true;
      await write(copyBytes(chunk, at, min(at + most, size)), false);
      exchange.writing = false;
      if (exchange.over) return;
    }
    if (size > 0) continue;
    exchange.writing = true;
    await write(NO_BYTES, true);
    return;
  }
}
/** What a call's JSON may take of its payload beside the bytes. */
const CALL_OVERHEAD_BYTES = 256;

function sendRequest(parts) {
  const { signal, body: state } = parts;
  const { source } = state;
  if (isAborted(signal)) {
    source?.cancel();
    return rejected(reasonOf(signal));
  }
  requestCount += 1;
  const number = requestCount;
  const whole = source === null ? undefined : source.whole;
  const streamed = source !== null && whole === undefined;
  const call = { __proto__: null, kind: 'fetch', request: number, url: serializeUrl(parts.url, true), method: parts.method,
    headers: headersForHost(parts.headers), redirect: parts.redirect, streamed, body: whole === undefined ? null : newList() };
  if (source !== null) state.used = true;
  return new Promise((resolve, reject) => {
    const answer = nativeAsk(call, whole);
    const exchange = { __proto__: null, over: false, answered: false, writing: false, sent: !streamed };
    const giveUp = (reason) => {
      exchange.over = true;
      drop({ __proto__: null, kind: 'drop', request: number });
      source?.cancel();
      reject(reason);
    };
    const onAborted = () => { giveUp(reasonOf(signal)); };
    onAbort(signal, onAborted);
    whenSettled(answer, (reply) => {
      if (exchange.over) {
        if (reply.body !== null) dropBody(reply.body);
        return;
      }
      exchange.answered = true;
      if (exchange.sent) offAbort(signal, onAborted);
      resolve(makeResponse(reply, signal));
    }, (error) => {
      if (exchange.over) return;
      exchange.over = true;
      offAbort(signal, onAborted);
      if (streamed) source.cancel();
      reject(error);
    });
    if (!streamed) return;
    const onSent = () => {
      exchange.sent = true;
      if (exchange.answered) offAbort(signal, onAborted);
    };
    whenSettled(sendBody(number, source, exchange), onSent, (error) => {
      if (exchange.over) return;
      // When the host takes no more it says why, or that the server has answered already, in its answer to the request.
      if (exchange.writing) source.cancel();
      else giveUp(error);
      onSent();
    });
  });
}

const fetchGlobal = {
  fetch(input, init = undefined) {
    try {
      requireArguments(arguments, 1, 'fetch');
      return sendRequest(requestParts(new Request(input, init)));
    } catch (error) {
      return rejected(error);
    }
  },
}.fetch;
