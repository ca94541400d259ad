/** The first message of a thread: its code is loaded, for which a machine under load takes longer than for most jobs. */
export const THREAD_READY = 'ready';
