/** What the program asks for, as it came: the server reads it, when it shows it and when the person has decided. */
export function queryOf({ search }: Pick<Location, 'search'>): string {
  return search.slice(1);
}
