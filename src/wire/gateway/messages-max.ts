/** Of one request: agents send some thousands at the most. Each is checked, decoded and encoded without a pause. */
export const MESSAGES_MAX = 10_000;
