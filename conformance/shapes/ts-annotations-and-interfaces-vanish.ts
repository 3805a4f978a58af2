interface User { id: number; name?: string; readonly tags: string[] }
type Maybe<T> = T | null | undefined;
const user: User = { id: 1, tags: ["a"] };
let nothing: Maybe<User> = null;
return [user, nothing];
//> value: [{"id":1,"tags":["a"]},null]
