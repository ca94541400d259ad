/** Input of a thread that extracts text. The bytes are transferred. */
export type TextJob =
  | {
      readonly kind: 'page';
      readonly bytes: Uint8Array;
      /** As the server said; absent: as the page says. */
      readonly charset?: string | undefined;
      /** Behind all redirects: links are made whole with it. */
      readonly url: string;
      readonly charsMax: number;
    }
  | { readonly kind: 'pdf'; readonly bytes: Uint8Array; readonly pagesMax: number; readonly charsMax: number }
  | { readonly kind: 'count'; readonly bytes: Uint8Array; readonly pagesMax: number };

/** Why there is no text, where the file is at fault. */
export type FileFault = 'unreadable' | 'encrypted' | 'too-many-pages' | 'memory';

export interface TextThreadData {
  /** The largest buffer that a library may make, and the most that one stream may inflate to. */
  readonly bufferBytesMax: number;
}

export type TextResult =
  | {
      readonly status: 'read';
      readonly title: string;
      /** Markdown. Empty for `count`, and for a file without text, such as a scan. */
      readonly text: string;
      /** Something was cut off. */
      readonly isCut: boolean;
      /** 1 for a page of the web. */
      readonly pages: number;
    }
  | { readonly status: 'failed'; readonly fault: FileFault };
