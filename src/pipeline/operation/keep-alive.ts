import type { AnswerWriter } from './operation-request.ts';

/** The first comment goes out so long after admission: until then a failure is a real status. @spec stream-4 */
const KEEP_ALIVE_MS = 10_000;

/** Keeps a stream open while nothing comes. @returns what ends it, once something does */
export function keepAlive(writer: AnswerWriter, generationId: string): () => void {
  const timer = setInterval(() => {
    writer.startStream(generationId);
    writer.write(': keep-alive\n\n');
  }, KEEP_ALIVE_MS);
  return () => clearInterval(timer);
}
