/** Values that other processes know too. Asking and telling never fails; what is lost is not missed. */
export interface PassedValues {
  /** `undefined` for none, and when the answer would not come soon. */
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, lifeMs: number): void;
}
