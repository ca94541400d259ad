/** What may come next in JSON whose beginning was right so far. */
type Expected =
  | 'lead'
  | 'first-key'
  | 'key'
  | 'colon'
  | 'first-value'
  | 'value'
  | 'comma'
  | 'string'
  | 'word'
  | 'trail';

/** The root at once, or in a fence that says what it holds. The last group is the root's bracket. */
const LEAD = /^\s*(```[\w+-]*[ \t]*\r?\n\s*)?[{[]/;
/** What may still become that. */
const LEAD_SO_FAR = /^\s*(?:`{0,3}|```[\w+-]*[ \t]*(?:\r|\r?\n\s*)?)$/;
const LEAD_CHARS_MAX = 64;

const WORD = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;
const WORD_CHAR = /[-+.\w]/;
const WORD_START = /[-\dtfn]/;
const WORD_CHARS_MAX = 1_024;

/**
 * Follows a text that is to be a JSON object or array as it comes, and says how much of it stands as it is, whatever
 * follows. A comma, the quote behind a string and a number are not sure before the next mark is right: a closing bracket
 * after the comma makes it one too many, and a letter after the quote makes that a part of the string.
 */
export class JsonPrefix {
  /** Where the JSON begins: behind a fence, otherwise at 0, for white space belongs to it. */
  start = 0;
  /** Everything before this offset of the text is sure. Never falls. */
  sure = 0;
  /** The root was closed: what is sure is JSON, and only white space may follow. */
  closed = false;
  /** The text is not JSON, or not recognizably so: nothing more is certain. */
  unsure = false;
  #expected: Expected = 'lead';
  readonly #open: ('{' | '[')[] = [];
  #lead = '';
  #word = '';
  #isKey = false;
  /** What is left of an escape: `u` counts four digits more. */
  #escape: 'none' | 'begun' | 1 | 2 | 3 | 4 = 'none';
  #at = 0;

  /** @param text what came */
  push(text: string): void {
    for (const char of text) {
      if (this.unsure) return;
      this.#take(char);
      this.#at += char.length;
    }
  }

  #take(char: string): void {
    switch (this.#expected) {
      case 'lead':
        this.#takeLead(char);
        return;
      case 'string':
        this.#takeString(char);
        return;
      case 'word':
        this.#takeWord(char);
        return;
      case 'trail':
        if (isSpace(char)) this.#beSure();
        else this.unsure = true;
        return;
      case 'first-key':
      case 'key':
      case 'colon':
      case 'first-value':
      case 'value':
      case 'comma':
        if (!isSpace(char)) this.#takeMark(char, this.#expected);
        else if (this.sure === this.#at) this.#beSure();
    }
  }

  /** This character is sure, and with it all before. */
  #beSure(): void {
    this.sure = this.#at + 1;
  }

  #takeLead(char: string): void {
    this.#lead += char;
    const found = LEAD.exec(this.#lead);
    if (found === null) {
      this.unsure = this.#lead.length > LEAD_CHARS_MAX || !LEAD_SO_FAR.test(this.#lead);
      return;
    }
    if (found[1] !== undefined || !/^[ \t\r\n]*.$/.test(this.#lead)) this.start = this.#at;
    this.#openBracket(char);
  }

  #takeMark(char: string, expected: 'first-key' | 'key' | 'colon' | 'first-value' | 'value' | 'comma'): void {
    const top = this.#open.at(-1);
    if (expected === 'colon') this.#go(char === ':' ? 'value' : undefined);
    else if (expected === 'comma') {
      // Not sure before something follows.
      if (char === ',') this.#expected = top === '{' ? 'key' : 'value';
      else this.#closeBracket(char);
    } else if (expected === 'first-key' || expected === 'key') {
      if (char === '"') this.#openString(true);
      else if (expected === 'first-key') this.#closeBracket(char);
      else this.unsure = true;
    } else if (char === '{' || char === '[') this.#openBracket(char);
    else if (char === '"') this.#openString(false);
    else if (WORD_START.test(char)) {
      this.sure = this.#at;
      this.#word = char;
      this.#expected = 'word';
    } else if (expected === 'first-value') this.#closeBracket(char);
    else this.unsure = true;
  }

  #go(expected: Expected | undefined): void {
    if (expected === undefined) {
      this.unsure = true;
      return;
    }
    this.#expected = expected;
    this.#beSure();
  }

  #openBracket(char: string): void {
    this.#open.push(char === '{' ? '{' : '[');
    this.#go(char === '{' ? 'first-key' : 'first-value');
  }

  #closeBracket(char: string): void {
    if (char !== (this.#open.at(-1) === '{' ? '}' : ']')) {
      this.unsure = true;
      return;
    }
    this.#open.pop();
    this.closed = this.#open.length === 0;
    this.#go(this.closed ? 'trail' : 'comma');
  }

  #openString(isKey: boolean): void {
    this.#isKey = isKey;
    this.#go('string');
  }

  #takeString(char: string): void {
    if (this.#escape !== 'none') this.#takeEscape(char);
    else if (char === '\\') this.#escape = 'begun';
    else if (char === '"') this.#expected = this.#isKey ? 'colon' : 'comma';
    else if (char < ' ') this.unsure = true;
    else this.sure = this.#at + char.length;
  }

  #takeEscape(char: string): void {
    if (this.#escape === 'begun') {
      if (char === 'u') this.#escape = 4;
      else if ('"\\/bfnrt'.includes(char)) this.#endEscape();
      else this.unsure = true;
    } else if (!/[\dA-Fa-f]/.test(char)) this.unsure = true;
    else if (this.#escape === 1) this.#endEscape();
    else this.#escape = this.#escape === 4 ? 3 : this.#escape === 3 ? 2 : 1;
  }

  #endEscape(): void {
    this.#escape = 'none';
    this.#beSure();
  }

  #takeWord(char: string): void {
    if (WORD_CHAR.test(char)) {
      this.#word += char;
      this.unsure = this.#word.length > WORD_CHARS_MAX;
      return;
    }
    if (!WORD.test(this.#word)) {
      this.unsure = true;
      return;
    }
    this.#expected = 'comma';
    if (!isSpace(char)) this.#takeMark(char, 'comma');
  }
}

/** What JSON calls white space. */
function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\r' || char === '\t';
}
