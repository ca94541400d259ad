import type { Span } from '../contract.ts';

const NUMBER = String.raw`\d{1,5}(?:[- ]?[A-Za-z](?![A-Za-z]))?(?:[-/]\d{1,4})?`;
const CAPITALISED = String.raw`\p{Lu}[\p{L}'’.-]{0,24}`;
const ENGLISH_KIND =
  'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Ter|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Crescent|Close|Way|Trail|Alley|Row|Mews|Quay|Gardens';

/** `221B Baker Street`, `1600 Pennsylvania Ave NW, Apt 4, Washington, DC 20500`, `12 5th Avenue`. */
const ENGLISH = new RegExp(
  String.raw`(?<![\p{L}\p{N}.])${NUMBER}[ ](?:(?:${CAPITALISED}|\d{1,3}(?:st|nd|rd|th))[ ]){1,4}(?:${ENGLISH_KIND})(?![\p{L}\p{N}])\.?` +
    String.raw`(?:[ ](?:NW|NE|SW|SE|N|S|E|W)(?![\p{L}]))?` +
    String.raw`(?:,?[ ](?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Fl|#)\.?[ ]?[\w-]{1,6})?` +
    String.raw`(?:,?\s(?:${CAPITALISED}[ ]?){1,3},?\s(?:[A-Z]{2}[ ])?(?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[A-Z]{2})(?![\p{L}\p{N}]))?`,
  'gu',
);
/** `P.O. Box 1234`. */
const BOX = /(?<![\p{L}\p{N}])(?:P\.?[ ]?O\.?[ ]?Box|Post Office Box|Postfach)[ ]\d{1,6}(?!\d)/giu;
/** `Musterstraße 12a, 10115 Berlin`, `Unter den Linden 5` only with the code behind it. */
const GERMAN = new RegExp(
  String.raw`(?<![\p{L}\p{N}])\p{Lu}[\p{L}-]{1,30}(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|damm|ufer|ring)[ ]\d{1,4}(?:[ ]?[a-z](?!\p{L}))?(?!\d)(?:,?\s\d{5}[ ]${CAPITALISED})?` +
    String.raw`|(?<![\p{L}\p{N}])(?:\p{Lu}[\p{L}-]{1,30}[ ]){0,2}(?:Straße|Strasse|Weg|Platz|Allee)[ ]\d{1,4}(?:[ ]?[a-z](?!\p{L}))?(?!\d)(?:,?\s\d{5}[ ]${CAPITALISED})?`,
  'gu',
);
/** `12 bis, rue de la Paix, 75002 Paris`. */
const FRENCH = new RegExp(
  String.raw`(?<![\p{L}\p{N}])\d{1,4}(?:[ ]?(?:bis|ter))?,?[ ](?:[Rr]ue|[Aa]venue|[Bb]oulevard|[Pp]lace|[Cc]hemin|[Aa]llée|[Qq]uai|[Ii]mpasse)[ ](?:(?:de|du|des|la|le|les|d['’]|l['’])[ ]?){0,3}${CAPITALISED}(?:[ -]${CAPITALISED}){0,3}(?:,?\s\d{5}[ ]${CAPITALISED})?`,
  'gu',
);
/** `Calle de Alcalá 42`, `Via Roma 10`. */
const ROMANCE = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:Calle|Avenida|Plaza|Paseo|Via|Viale|Piazza|Corso|Rua|Praça)[ ](?:(?:de|del|della|di|da|do|la|las|los|el)[ ]){0,3}${CAPITALISED}(?:[ ]${CAPITALISED}){0,2},?[ ](?:n\.?º?[ ]?)?\d{1,4}(?![\p{L}\p{N}])`,
  'gu',
);

/** A number with the name of a street, in the order and the words of some countries. Towns alone are none. */
export function findAddresses(text: string): readonly Span[] {
  return [ENGLISH, BOX, GERMAN, FRENCH, ROMANCE]
    .flatMap((expression) => [...text.matchAll(expression)])
    .map(({ 0: found, index }) => ({ start: index, end: index + found.length }))
    .toSorted((one, other) => one.start - other.start);
}
