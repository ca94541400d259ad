import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

/** What reading the schemas of one request may still take, in values. */
export interface SchemaBudget {
  left: number;
}

/** A text takes as much as so many values as it has this many characters. */
const CHARS_OF_VALUE = 100;
/** For all schemas of a request together, and for each by its own size. */
const BASE = 10_000;
const TIMES_ITS_SIZE = 8;

/** References multiply: a few lines may stand for more than fits into the memory. */
export function createBudget(): SchemaBudget {
  return { left: BASE };
}

/** Lets a schema take several times what it takes to read it once. */
export function allow(schema: JsonObject, budget: SchemaBudget): void {
  budget.left += TIMES_ITS_SIZE * weightOf(schema);
}

/** False when that is more than any schema takes that is meant to be read. */
export function spend(budget: SchemaBudget, values: number): boolean {
  budget.left -= values;
  return budget.left >= 0;
}

/** The values in a value, itself among them. */
function weightOf(value: Json | undefined): number {
  if (typeof value === 'string') return costOfText(value);
  if (Array.isArray(value)) return value.reduce((sum: number, item: Json) => sum + weightOf(item), 1);
  if (!isJsonObject(value)) return 1;
  let weight = 1;
  for (const name in value) weight += weightOf(value[name]);
  return weight;
}

/** What it takes to write a schema once, without the schemas inside it. */
export function costOf(schema: JsonObject): number {
  let cost = 1;
  for (const keyword in schema) {
    const value = schema[keyword];
    if (typeof value === 'string') cost += costOfText(value);
    else if (Array.isArray(value)) for (const item of value) cost += typeof item === 'string' ? costOfText(item) : 1;
    else if (isJsonObject(value)) for (const name in value) cost += costOfText(name);
    else cost += 1;
  }
  return cost;
}

export function costOfText(text: string): number {
  return 1 + Math.floor(text.length / CHARS_OF_VALUE);
}
