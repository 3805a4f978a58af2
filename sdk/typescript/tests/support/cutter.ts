import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Passes connections on to a server, and can cut all of them. */
export class Cutter {
  readonly url: string;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();
  /** How many connections were made. */
  connections = 0;
  /** While set, new connections are cut at once. */
  down = false;

  private constructor(listener: Server) {
    this.#listener = listener;
    this.url = `http://127.0.0.1:${(listener.address() as { port: number }).port}`;
  }

  static async before(port: number): Promise<Cutter> {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const cutter = new Cutter(listener);
    listener.on("connection", (near) => cutter.#pass(near, port));
    return cutter;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#listener.close();
    await once(this.#listener, "close");
  }

  #pass(near: Socket, port: number): void {
    this.connections++;
    if (this.down) {
      near.destroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
  }
}
