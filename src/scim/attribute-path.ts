export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** An attribute, step by step, in lower case: `["name", "givenname"]`. */
export type AttributePath = readonly string[];

const CORE_URN = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;
const EXTENSION = ENTERPRISE.toLowerCase();

/** The steps of an attribute's name in lower case; the URN of the extension is one of them. */
export function stepsOf(name: string): AttributePath {
  if (name === EXTENSION) return [EXTENSION];
  if (name.startsWith(`${EXTENSION}:`)) return [EXTENSION, ...name.slice(EXTENSION.length + 1).split('.')];
  return name.replace(CORE_URN, '').split('.');
}
