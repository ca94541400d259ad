import { isIPv4, isIPv6 } from 'node:net';
import type { Span } from '../contract.ts';

const FOUR = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)/g;
const SIX = /(?<![\w:.])[0-9a-f:]{2,39}(?:\.\d{1,3}){0,3}(?![\w:])/gi;

/** Addresses of both versions. Four small numbers with points are one, whatever the writer meant by them. */
export function findIpAddresses(text: string): readonly Span[] {
  const found: Span[] = [];
  for (const { 0: candidate, index } of text.matchAll(FOUR))
    if (isIPv4(candidate)) found.push({ start: index, end: index + candidate.length });
  if (!text.includes(':')) return found;
  for (const { 0: candidate, index } of text.matchAll(SIX))
    // `::` and `a::b` stand in programs.
    if (/\d/.test(candidate) && candidate.split(':').length > 2 && isIPv6(candidate))
      found.push({ start: index, end: index + candidate.length });
  return found;
}
