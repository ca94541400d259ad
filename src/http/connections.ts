import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { dropRest, type LingerLimits } from './linger.ts';
import type { UnreadResponses } from './unread-responses.ts';

/** The open connections of callers, each with the request that is under way on it. */
export interface Connections {
  opened(socket: Socket): void;
  /** The headers of a request have come. `false`: the connection only waits for its end, and takes no request. */
  requested(request: IncomingMessage): boolean;
  /** The answer has left, or the caller has. */
  answered(request: IncomingMessage): void;
}

/**
 * Bounds open connections. Where there are too many, the one is closed that needs its place least: the oldest without a
 * request, else the oldest whose body is still to come, else the one whose reader has taken nothing of its stream for
 * longest, else the new one. So connections that send nothing, or take nothing of a stream, keep no caller out.
 *
 * A connection that is to be closed while its caller still sends is closed for writing at once, and for good when the rest
 * of the body has been read (linger.ts).
 */
export function createConnections(
  connectionsMax: number,
  unread: Pick<UnreadResponses, 'dropStalled'>,
  limits?: LingerLimits,
): Connections {
  const open = new Map<Socket, Connection>();
  const closing = new WeakSet<Socket>();
  let uses = 0;

  function makeRoomFor(opened: Socket): void {
    let idle: Connection | undefined;
    let unfinished: Connection | undefined;
    for (const connection of open.values()) {
      const { socket, request } = connection;
      if (socket === opened) continue;
      if (request === undefined) idle = olderOf(idle, connection);
      else if (!request.complete) unfinished = olderOf(unfinished, connection);
    }
    const least = idle ?? unfinished;
    if (least !== undefined) close(least.socket);
    else if (!unread.dropStalled()) close(opened);
  }

  function close(socket: Socket): void {
    open.delete(socket);
    socket.destroy();
  }

  /** Node calls `destroySoon` once an answer is written after which the connection is to be closed. */
  function closeAfterBody(socket: Socket): void {
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      if (open.get(socket)?.request?.complete === false) {
        closing.add(socket);
        socket.end();
      } else destroySoon();
    };
  }

  function readRest(request: IncomingMessage): void {
    const { socket } = request;
    dropRest(
      request,
      (isWhole) => {
        if (!isWhole || closing.has(socket)) close(socket);
      },
      limits,
    );
  }

  return {
    opened(socket) {
      open.set(socket, { socket, request: undefined, use: ++uses });
      socket.once('close', () => open.delete(socket));
      closeAfterBody(socket);
      if (open.size > connectionsMax) makeRoomFor(socket);
    },
    requested(request) {
      const { socket } = request;
      if (closing.has(socket)) return false;
      const connection = open.get(socket);
      if (connection !== undefined) connection.request = request;
      return true;
    },
    answered(request) {
      const { socket } = request;
      const connection = open.get(socket);
      if (socket.destroyed || connection === undefined) return;
      if (!request.complete) readRest(request);
      // Of pipelined requests the next one may have come already.
      if (connection.request !== request) return;
      connection.request = undefined;
      // Behind all others: it is the last that would be closed.
      connection.use = ++uses;
    },
  };
}

/** Changed, not made anew, with each request: see Slots. */
interface Connection {
  readonly socket: Socket;
  request: IncomingMessage | undefined;
  /** When it was opened or last used: the number of that use. */
  use: number;
}

function olderOf(one: Connection | undefined, other: Connection): Connection {
  return one !== undefined && one.use < other.use ? one : other;
}
