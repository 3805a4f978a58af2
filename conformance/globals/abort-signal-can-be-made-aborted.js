return [AbortSignal.abort().aborted, AbortSignal.abort("r").reason, AbortSignal.abort().reason.name];
//> value: [true,"r","AbortError"]
