/** What a bound on buffers says once it was reached. */
export interface BufferBound {
  /** Something larger was wanted since the last call; the next job begins anew. */
  takeExceeded(): boolean;
}

/** What is left to a job once it wanted too much: enough to fail with, so that it ends soon. */
const BYTES_LEFT_MAX = 65_536;

/**
 * Bounds each buffer that a library makes in this thread, and what it inflates with streams of the platform. The limits that
 * V8 has for a thread do not count buffers, and a library that doubles one takes gigabytes between two looks from outside.
 */
export function boundBuffers(bytesMax: number): BufferBound {
  let isExceeded = false;
  const check = (bytes: number): void => {
    if (bytes <= (isExceeded ? BYTES_LEFT_MAX : bytesMax)) return;
    isExceeded = true;
    throw new RangeError(`A buffer of ${bytes} bytes is more than ${bytesMax}.`);
  };
  globalThis.ArrayBuffer = boundConstructor(ArrayBuffer, 1, check);
  globalThis.Uint8Array = boundConstructor(Uint8Array, 1, check);
  globalThis.Uint8ClampedArray = boundConstructor(Uint8ClampedArray, 1, check);
  globalThis.Uint16Array = boundConstructor(Uint16Array, 2, check);
  globalThis.Int32Array = boundConstructor(Int32Array, 4, check);
  globalThis.Uint32Array = boundConstructor(Uint32Array, 4, check);
  globalThis.Float32Array = boundConstructor(Float32Array, 4, check);
  globalThis.Float64Array = boundConstructor(Float64Array, 8, check);
  globalThis.DecompressionStream = boundInflation(DecompressionStream, check);
  return {
    takeExceeded() {
      const was = isExceeded;
      isExceeded = false;
      return was;
    },
  };
}

function boundConstructor<Class extends new (...args: never) => object>(
  original: Class,
  bytesPerElement: number,
  check: (bytes: number) => void,
): Class {
  return new Proxy(original, {
    construct(target, args: readonly unknown[], newTarget) {
      check(lengthOf(args[0]) * bytesPerElement);
      return Reflect.construct(target, args, newTarget);
    },
  });
}

/** Of a number, or of what is copied; a view of a buffer takes nothing. */
function lengthOf(source: unknown): number {
  if (typeof source === 'number') return source;
  const isCopied = Array.isArray(source) || ArrayBuffer.isView(source);
  return isCopied && 'length' in source && typeof source.length === 'number' ? source.length : 0;
}

function boundInflation(
  original: typeof DecompressionStream,
  check: (bytes: number) => void,
): typeof DecompressionStream {
  return new Proxy(original, {
    construct(target, args: ConstructorParameters<typeof DecompressionStream>) {
      const { readable, writable } = new target(...args);
      let bytes = 0;
      const counted = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.byteLength;
          check(bytes);
          controller.enqueue(chunk);
        },
      });
      return { readable: readable.pipeThrough(counted), writable };
    },
  });
}
