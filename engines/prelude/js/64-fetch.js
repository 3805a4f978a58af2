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

/** The body of a response, which an abort turns into an error: to be read from the host, or `whole`. */
function responseSource(id, whole, signal) {
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
    if (id !== null) dropBody(id);
    failRead(reasonOf(signal));
  };
  onAbort(signal, onAborted);
  return {
    __proto__: null,
    whole: undefined,
    next: () => new Promise((resolve, reject) => {
      if (aborted) reject(reasonOf(signal));
      else if (over) resolve(NO_BYTES);
      else if (whole !== undefined) {
        end();
        resolve(whole);
      } else {
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
      if (id !== null) dropBody(id);
    },
  };
}

/**
 * What became of a request, in the two forms in which the host says it: a reply with the number of the body, or null; or the text
 * of such a reply, the whole body and the status. Nothing that the program can reach is asked here.
 */
function makeResponse(reply, whole, status, signal) {
  if (whole !== undefined) {
    if (NULL_BODY_STATUS[status]) return responseFromHost(status, reply, null);
    return signal === null ? responseWithWhole(status, reply, whole) : responseFromHost(status, reply, responseSource(null, whole, signal));
  }
  const { body: id, status: code } = reply;
  const head = hostHead(reply);
  if (id === null) return responseFromHost(code, head, null);
  if (NULL_BODY_STATUS[code]) {
    dropBody(id);
    return responseFromHost(code, head, null);
  }
  return responseFromHost(code, head, signal === null ? hostSource(id) : responseSource(id, undefined, signal));
}
/** For a request that cannot be aborted: all that the engine has to do when the host has answered. */
const answered = (reply, whole, status) => makeResponse(reply, whole, status, null);
/** For one that can be: what came, because more may have happened by the time the program is told. */
const asItCame = (reply, whole, status) => ({ __proto__: null, reply, whole, status });

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
  if (signal !== null && isAborted(signal)) {
    source?.cancel();
    return rejected(reasonOf(signal));
  }
  requestCount += 1;
  const whole = source === null ? undefined : source.whole;
  const streamed = source !== null && whole === undefined;
  const call = { __proto__: null, kind: 'fetch', request: requestCount, url: parts.url, method: parts.method,
    headers: parts.headers === undefined ? newList() : headersForHost(parts.headers), redirect: parts.redirect, streamed,
    body: whole === undefined ? null : newList() };
  if (source !== null) state.used = true;
  if (signal === null && !streamed) return nativeAsk(call, whole, answered);
  return attend(call, whole, source, signal ?? new AbortSignal(signalMaker));
}

/** Sends a request that may be aborted, or whose body is sent while it is under way. */
function attend(call, whole, source, signal) {
  const { request: number, streamed } = call;
  return new Promise((resolve, reject) => {
    const answer = nativeAsk(call, whole, asItCame);
    const exchange = { __proto__: null, over: false, answered: false, writing: false, sent: !streamed };
    const giveUp = (reason) => {
      exchange.over = true;
      drop({ __proto__: null, kind: 'drop', request: number });
      source?.cancel();
      reject(reason);
    };
    const onAborted = () => { giveUp(reasonOf(signal)); };
    onAbort(signal, onAborted);
    whenSettled(answer, (came) => {
      if (exchange.over) {
        if (came.whole === undefined && came.reply.body !== null) dropBody(came.reply.body);
        return;
      }
      exchange.answered = true;
      if (exchange.sent) offAbort(signal, onAborted);
      resolve(makeResponse(came.reply, came.whole, came.status, signal));
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

/** The parts of a request that no Request has to be made for: nobody could look at it. */
function directParts(input, init) {
  const text = wellFormed(input);
  const given = readRequestInit(init);
  const url = nativePlainUrl(text) === 0 ? serializeUrl(requestUrl(text), true) : text;
  const method = requestMethod(given, 'GET');
  let { headers, body } = given;
  if (body !== undefined) {
    headers ??= new Headers();
    body = requestBody(body, method, headers);
  } else body = noBody();
  return { __proto__: null, url, method, headers, body, signal: given.signal ?? null, redirect: given.redirect ?? 'follow' };
}

const fetchGlobal = {
  fetch(input, init = undefined) {
    try {
      if (typeof input === 'string' && init === undefined) {
        const response = nativeGet(input, requestCount + 1, answered);
        if (response !== undefined) {
          requestCount += 1;
          return response;
        }
      }
      requireArguments(arguments, 1, 'fetch');
      return sendRequest(isRequest(input) ? requestParts(new Request(input, init)) : directParts(input, init));
    } catch (error) {
      return rejected(error);
    }
  },
}.fetch;
