import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import { errorHeaders } from '../problem.ts';
import type { Caller } from '../../pipeline/caller.ts';
import type { ClientFormat, ErrorContext } from '../../wire/format.ts';
import { CORS_HEADERS } from '../cors.ts';

const STREAM_HEADERS = {
  ...CORS_HEADERS,
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

/** A caller at the other end of a `node:http` response. Every method is safe after the caller has gone. */
export function createNodeCaller(
  response: ServerResponse,
  format: Pick<ClientFormat, 'encodeError' | 'requestIdHeader'>,
): Caller {
  let ended = false;
  const idHeaders = (id: string): Record<string, string> => ({ 'x-generation-id': id, [format.requestIdHeader]: id });

  function sendJson(status: number, headers: Record<string, string>, json: string): void {
    if (ended || response.destroyed) return;
    ended = true;
    response.writeHead(status, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(json),
    });
    // As a string it leaves in one write with the headers.
    response.end(json);
  }

  return {
    onGone(listener) {
      if (response.destroyed) {
        listener();
        return;
      }
      response.once('close', () => {
        if (!response.writableFinished) listener();
      });
    },
    get started() {
      return response.headersSent;
    },
    startStream(generationId) {
      if (response.headersSent || response.destroyed) return;
      response.writeHead(200, { ...STREAM_HEADERS, ...idHeaders(generationId) });
    },
    write(frames) {
      // A response that is destroyed never drains: waiting for it would hold the upstream for ever.
      return response.destroyed || response.write(frames);
    },
    drained() {
      if (response.destroyed || !response.writableNeedDrain) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          response.off('drain', done);
          response.off('close', done);
          resolve();
        };
        response.once('drain', done);
        response.once('close', done);
      });
    },
    end(frames) {
      if (ended || response.destroyed) return;
      ended = true;
      response.end(frames);
    },
    answer(generationId, json) {
      sendJson(200, { ...CORS_HEADERS, ...idHeaders(generationId) }, json);
    },
    refuse(error: GatewayError, context: ErrorContext) {
      if (response.headersSent) return;
      const { generationId } = context;
      const headers = {
        ...CORS_HEADERS,
        ...errorHeaders(error, generationId),
        ...(generationId !== null && idHeaders(generationId)),
      };
      sendJson(error.status, headers, JSON.stringify(format.encodeError(error, context)));
    },
  };
}
