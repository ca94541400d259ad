import { connect } from 'node:net';

import { ResponseReader } from '../load/response-reader.ts';

/** A caller that makes as few objects and promises as it can, since it lives in the process that is measured. */
export interface PathCaller {
  /** One request and its whole answer. @throws Error when the answer is not right */
  ask(): Promise<void>;
  close(): void;
}

/**
 * One connection that is kept.
 * @param request as it goes over the wire
 * @param marker what a right answer holds
 */
export function openCaller(url: string, request: string, marker: string): PathCaller {
  const { hostname, port } = new URL(url);
  const bytes = Buffer.from(request);
  const reader = new ResponseReader({ kind: 'whole', marker, frames: 0 });
  let waiting: PromiseWithResolvers<void> | undefined;
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on('data', (chunk) => {
    reader.read(chunk, chunk.length);
    if (!reader.complete) return;
    if (reader.fault === undefined) waiting?.resolve();
    else waiting?.reject(new Error(reader.fault));
  });
  socket.on('error', (error) => waiting?.reject(error));
  return {
    ask() {
      waiting = Promise.withResolvers();
      reader.reset();
      socket.write(bytes);
      return waiting.promise;
    },
    close: () => void socket.destroy(),
  };
}
