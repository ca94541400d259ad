/**
 * For `node --import`: the wall clock of each thread jumps up to an hour in either direction, again and again, as that of a
 * machine that is suspended, moved or set. The monotonic one goes on.
 */
const EVERY_MS = 40;
const JUMP_MS_MAX = 3_600_000;

const readMs = Date.now.bind(Date);
let offsetMs = 0;

Date.now = () => readMs() + offsetMs;
setInterval(() => {
  offsetMs = Math.round((Math.random() * 2 - 1) * JUMP_MS_MAX);
}, EVERY_MS).unref();
