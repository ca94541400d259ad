import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { stepsOf } from './attribute-path.ts';
import { ScimError } from './scim-error.ts';

/** One condition of a filter. All of them hold. @spec scim-4 */
export interface Term {
  /** In lower case, without the URN of the core schema: `emails[type eq "work"].value` is `emails.value` with `where`. */
  readonly attribute: string;
  readonly operator: 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le' | 'pr';
  readonly value: string | boolean | number | null;
  /** Conditions on the element of a list that it is about. */
  readonly where?: readonly Term[];
}

const FILTER_CHARS_MAX = 2_048;
const TERMS_MAX = 20;
const CORE_URN = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i;
const WORD = /^[A-Za-z$][\w$:.-]*/;
const STRING = /^"(?:[^"\\]|\\.)*"/;
const ORDERS = new Set(['gt', 'ge', 'lt', 'le']);
const OPERATORS = new Set(['eq', 'ne', 'co', 'sw', 'ew', ...ORDERS]);
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;
/** Compared with case; everything else without. */
const EXACT = new Set(['id', 'externalid']);

/** @throws ScimError 400 `invalidFilter` */
export function parseFilter(text: string): readonly Term[] {
  if (text.length > FILTER_CHARS_MAX) throw invalid(`is longer than ${FILTER_CHARS_MAX} characters`);
  const reader = new Reader(text);
  const terms = readTerms(reader, false);
  if (!reader.isDone()) throw invalid('ends too early: "or", "not" and parentheses are not understood');
  return terms;
}

function readTerms(reader: Reader, isInner: boolean): readonly Term[] {
  const terms: Term[] = [];
  for (;;) {
    if (terms.length >= TERMS_MAX) throw invalid(`has more than ${TERMS_MAX} conditions`);
    terms.push(readTerm(reader, isInner));
    if (!reader.takeWord('and')) return terms;
  }
}

function readTerm(reader: Reader, isInner: boolean): Term {
  const name = reader.takeName();
  let where: readonly Term[] | undefined;
  let attribute = name;
  if (reader.take('[')) {
    if (isInner) throw invalid('has brackets in brackets');
    where = readTerms(reader, true);
    if (!reader.take(']')) throw invalid('lacks a closing bracket');
    if (reader.take('.')) attribute = `${name}.${reader.takeName()}`;
    else return { attribute, operator: 'pr', value: null, where };
  }
  if (reader.takeWord('pr')) return { attribute, operator: 'pr', value: null, ...(where && { where }) };
  const operator = reader.takeOperator();
  const value = reader.takeValue();
  if (ORDERS.has(operator) && (value === null || typeof value === 'boolean'))
    throw invalid(`compares by ${operator} with what has no order`);
  return { attribute, operator, value, ...(where && { where }) };
}

class Reader {
  #rest: string;

  constructor(text: string) {
    this.#rest = text.trim();
  }

  isDone(): boolean {
    return this.#rest === '';
  }

  take(sign: string): boolean {
    if (!this.#rest.startsWith(sign)) return false;
    this.#rest = this.#rest.slice(sign.length).trimStart();
    return true;
  }

  takeWord(word: string): boolean {
    const [found] = WORD.exec(this.#rest) ?? [];
    return found?.toLowerCase() === word && this.take(found);
  }

  takeName(): string {
    const [found] = WORD.exec(this.#rest) ?? [];
    if (found === undefined) throw invalid('lacks the name of an attribute');
    this.take(found);
    return found.replace(CORE_URN, '').toLowerCase();
  }

  takeOperator(): Term['operator'] {
    const [found] = WORD.exec(this.#rest) ?? [];
    const operator = found?.toLowerCase() ?? '';
    if (!isOperator(operator))
      throw invalid(`has the operator ${JSON.stringify(found ?? '')}, which is not understood`);
    this.take(found ?? '');
    return operator;
  }

  takeValue(): Term['value'] {
    const [text] = STRING.exec(this.#rest) ?? [];
    if (text !== undefined) {
      this.take(text);
      return parseString(text);
    }
    const [word] = /^[^\s\]]+/.exec(this.#rest) ?? [];
    if (word === undefined) throw invalid('lacks a value');
    this.take(word);
    const lower = word.toLowerCase();
    // Entra ID writes them with a capital.
    if (lower === 'true' || lower === 'false') return lower === 'true';
    if (lower === 'null') return null;
    const number = Number(word);
    if (Number.isNaN(number)) throw invalid(`has the value ${word}, which is neither a text in quotes nor a number`);
    return number;
  }
}

function isOperator(word: string): word is 'eq' {
  return OPERATORS.has(word);
}

function parseString(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return String(value);
  } catch (cause) {
    throw new ScimError(400, 'filter: has a text that is not JSON', 'invalidFilter', { cause });
  }
}

function invalid(what: string): ScimError {
  return new ScimError(400, `filter: ${what}`, 'invalidFilter');
}

/** @throws ScimError 400 for conditions on an attribute that is not read for them */
export function refuseConditionsOn(terms: readonly Term[], name: string): void {
  if (terms.some(({ attribute }) => stepsOf(attribute)[0] === name))
    throw invalid(`has a condition on ${name} that is not understood`);
}

/** The value of the only equality with this attribute, which an index can find. */
export function equalTo(terms: readonly Term[], attribute: string): string | undefined {
  const found = terms.find(
    (term) => term.attribute === attribute && term.operator === 'eq' && term.where === undefined,
  );
  return typeof found?.value === 'string' ? found.value : undefined;
}

/** Whether a resource fits. */
export function matches(resource: JsonObject, terms: readonly Term[]): boolean {
  return terms.every((term) => fits(resource, term));
}

function fits(resource: JsonObject, { attribute, operator, value, where }: Term): boolean {
  const [name = '', ...rest] = stepsOf(attribute);
  const found = memberOf(resource, name);
  const all = Array.isArray(found) ? found : found === undefined ? [] : [found];
  const elements = where === undefined ? all : all.filter((each) => isJsonObject(each) && matches(each, where));
  if (operator === 'pr' && rest.length === 0) return elements.length > 0;
  const values = elements.flatMap((each) => leavesOf(each, rest.length === 0 ? ['value'] : rest));
  if (operator === 'pr') return values.some((each) => each !== null && each !== '');
  const isExact = EXACT.has(attribute);
  if (operator === 'ne') return !values.some((each) => compares(each, 'eq', value, isExact));
  return values.some((each) => compares(each, operator, value, isExact));
}

function leavesOf(element: unknown, steps: readonly string[]): readonly unknown[] {
  if (!isJsonObject(element)) return [element];
  const [step = '', ...more] = steps;
  const next = memberOf(element, step);
  if (next === undefined) return [];
  return more.length === 0 ? [next] : leavesOf(next, more);
}

function compares(found: unknown, operator: Term['operator'], wanted: Term['value'], isExact: boolean): boolean {
  if (ORDERS.has(operator)) return isInOrder(found, operator, wanted, isExact);
  if (typeof found !== 'string' || typeof wanted !== 'string') return operator === 'eq' && found === wanted;
  const [one, other] = isExact ? [found, wanted] : [found.toLowerCase(), wanted.toLowerCase()];
  if (operator === 'co') return one.includes(other);
  if (operator === 'sw') return one.startsWith(other);
  return operator === 'ew' ? one.endsWith(other) : one === other;
}

/** Times are compared as times, whatever their zone. */
function isInOrder(found: unknown, operator: Term['operator'], wanted: Term['value'], isExact: boolean): boolean {
  const orderOf = (value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    if (DATE_TIME.test(value)) return Date.parse(value);
    return isExact ? value : value.toLowerCase();
  };
  const [one, other] = [orderOf(found), orderOf(wanted)];
  const areAlike =
    (typeof one === 'number' && typeof other === 'number') || (typeof one === 'string' && typeof other === 'string');
  if (!areAlike) return false;
  if (one === other) return operator === 'ge' || operator === 'le';
  return one > other === (operator === 'gt' || operator === 'ge');
}

/** A member by its name, whatever its case. */
function memberOf(object: JsonObject, name: string): unknown {
  const key = Object.keys(object).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}
