/** What all keys in Redis begin with. In braces: a cluster then keeps them in one place, as scripts need it. */
export function keyPrefix(name: string): string {
  return `{${name}}:`;
}
