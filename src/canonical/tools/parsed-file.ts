/** The engines that can turn a file into text. @spec plugin-10 */
export type FileEngineId = 'mistral-ocr' | 'cloudflare-ai';

/** A file as it came: its bytes, or their address. */
export type FileSource =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'url'; readonly url: string };

export type FilePart =
  | { readonly type: 'text'; readonly text: string }
  /** A data URL. */
  | { readonly type: 'image'; readonly url: string };

/** A file as text and pictures. */
export interface ParsedFile {
  readonly pages: number;
  readonly parts: readonly FilePart[];
}

export type ParseOutcome =
  | {
      readonly status: 'parsed';
      readonly file: ParsedFile;
      /** Nano-USD. */
      readonly feeNanoUsd: number;
    }
  | {
      readonly status: 'failed';
      /** `caller`: the file is at fault; `service`: the engine is; `memory`: there is no memory for it now. */
      readonly fault: 'caller' | 'service' | 'memory';
      readonly message: string;
    };

/** Holds the memory that a file takes for as long as its request is under way. */
export interface FileMemory {
  add(one: { close(): void }): void;
}

/** Reads files, for the plugins and tools that need it. */
export interface FileReader {
  /** Whether the engine is set up. */
  has(engine: FileEngineId): boolean;
  /**
   * Gets the bytes of a file at an address. Never rejects.
   * @param held gets what the file takes; absent: it is not counted once it is here
   */
  fetch(
    url: string,
    signal: AbortSignal,
    held?: FileMemory,
  ): Promise<FileSource | Extract<ParseOutcome, { status: 'failed' }>>;
  /**
   * The most that reading the file may cost, nano-USD. Looks into a file whose pages are paid one by one.
   * Never rejects.
   */
  quote(source: FileSource, engine: FileEngineId, signal: AbortSignal): Promise<number>;
  /**
   * Never rejects.
   * @param held gets what the text takes; absent: it is not counted once it is here
   */
  parse(source: FileSource, engine: FileEngineId, signal: AbortSignal, held?: FileMemory): Promise<ParseOutcome>;
}
