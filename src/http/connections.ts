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
  /** In the order in which they were opened or last used. */
  const open = new Map<Socket, IncomingMessage | undefined>();
  const closing = new WeakSet<Socket>();

  function makeRoomFor(opened: Socket): void {
    let unfinished: Socket | undefined;
    for (const [socket, request] of open) {
      if (socket === opened) continue;
      if (request === undefined) return close(socket);
      if (!request.complete) unfinished ??= socket;
    }
    if (unfinished !== undefined) close(unfinished);
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
      if (open.get(socket)?.complete === false) {
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
      open.set(socket, undefined);
      socket.once('close', () => open.delete(socket));
      closeAfterBody(socket);
      if (open.size > connectionsMax) makeRoomFor(socket);
    },
    requested(request) {
      const { socket } = request;
      if (closing.has(socket)) return false;
      if (open.has(socket)) open.set(socket, request);
      return true;
    },
    answered(request) {
      const { socket } = request;
      if (socket.destroyed || !open.has(socket)) return;
      if (!request.complete) readRest(request);
      // Of pipelined requests the next one may have come already.
      if (open.get(socket) !== request) return;
      // Behind all others: it is the last that would be closed.
      open.delete(socket);
      open.set(socket, undefined);
    },
  };
}
