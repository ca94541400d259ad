/** Where a text stops being JSON, and what should stand there. */
export interface JsonFault {
  readonly offset: number;
  /** Never quotes the text, which may hold a secret. */
  readonly message: string;
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"[ !#-[\]-\uFFFF]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uFFFF]*)*"/y;
/** A variable without quotes stands for a number, `true` or `false`. */
const PLAIN = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|\$?\$\{[^{}\n]*\})(?![\w.$])/y;

/**
 * The first fault of a text that is to be JSON, in which variables (`${NAME}`) may stand for values. The engine's own
 * reader does not say where all of its faults are. `undefined`: there is none.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  return new JsonReader(text).read();
}

/** A class because reading has a place in the text. Not recursive: a text may be nested more deeply than the stack is. */
class JsonReader {
  readonly #text: string;
  #at = 0;
  #expectsValue = true;
  /** Of what is open: what closes it. */
  readonly #open: ('}' | ']')[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonFault | undefined {
    if (this.#text.startsWith('\uFEFF')) this.#at = 1;
    let fault: JsonFault | undefined;
    do fault = this.#expectsValue ? this.#readValue() : this.#readOn();
    while (fault === undefined && (this.#expectsValue || this.#open.length > 0));
    if (fault !== undefined) return fault;
    return this.#at < this.#text.length ? this.#fault('expected nothing after the end of the value') : undefined;
  }

  /** Up to the end of a plain value, or behind what opens an object or a list and is not closed at once. */
  #readValue(): JsonFault | undefined {
    this.#expectsValue = false;
    this.#take(SPACE);
    const closing = this.#next === '{' ? '}' : this.#next === '[' ? ']' : undefined;
    if (closing === undefined) {
      const fault =
        this.#next === '"' ? this.#readString() : this.#take(PLAIN) ? undefined : this.#fault('expected a value');
      this.#take(SPACE);
      return fault;
    }
    this.#at++;
    this.#take(SPACE);
    if (this.#skip(closing)) {
      this.#take(SPACE);
      return undefined;
    }
    this.#open.push(closing);
    return this.#readNext(closing);
  }

  /** Behind a value that something open holds. */
  #readOn(): JsonFault | undefined {
    const closing = this.#open.at(-1);
    if (closing !== undefined && this.#skip(closing)) {
      this.#open.pop();
      this.#take(SPACE);
      return undefined;
    }
    const comma = this.#at;
    if (!this.#skip(',')) return this.#fault(`expected "," or "${closing}"`);
    this.#take(SPACE);
    if (this.#next === closing) return { offset: comma, message: `expected no comma before "${closing}"` };
    return this.#readNext(closing);
  }

  /** What stands before a value: in an object its key. */
  #readNext(closing: '}' | ']' | undefined): JsonFault | undefined {
    this.#expectsValue = true;
    if (closing !== '}') return undefined;
    if (this.#next !== '"') return this.#fault('expected a key in double quotes');
    const fault = this.#readString();
    if (fault !== undefined) return fault;
    this.#take(SPACE);
    return this.#skip(':') ? undefined : this.#fault('expected ":" after the key');
  }

  #readString(): JsonFault | undefined {
    return this.#take(STRING)
      ? undefined
      : this.#fault('expected a text that ends on its line, without control characters');
  }

  get #next(): string | undefined {
    return this.#text[this.#at];
  }

  #skip(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at++;
    return true;
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #fault(message: string): JsonFault {
    return { offset: this.#at, message: this.#at < this.#text.length ? message : 'ends too early' };
  }
}
