/**
 * A TCP link that can lose every packet without a word: no reset, no end, sockets stay open on both sides. What was
 * sent meanwhile arrives when it heals, late, as the kernel's retransmissions do, an end of the connection included.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class StallingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isStalled = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** On a free port; the target is asked for with each connection. */
  static async start(target: () => number): Promise<StallingProxy> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const proxy = new StallingProxy(server);
    server.on('connection', (near: Socket) => {
      const far = connect({ port: target(), host: '127.0.0.1', allowHalfOpen: true });
      proxy.#forward(near, far);
      proxy.#forward(far, near);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stall(): void {
    this.#isStalled = true;
    for (const socket of this.#sockets) socket.pause();
  }

  heal(): void {
    this.#isStalled = false;
    for (const socket of this.#sockets) socket.resume();
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (bytes) => to.write(bytes));
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => this.#sockets.delete(from));
    if (this.#isStalled) from.pause();
    else from.resume();
  }
}
