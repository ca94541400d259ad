// `npm run dashboard:figures`: what docs/dashboard.md says of speed, measured here: scrolling, and a tail under load.
import { fillRequests, measureScroll, measureTail, SCROLL_STEPS } from './browser/figures.ts';
import { findChromium, startStand } from './browser/support.ts';

const ROWS = 100_000;
const SCROLL_MS = 4_000;
const TAIL_MS = 60_000;
const PER_SECOND = 500;

const executablePath = findChromium();
if (executablePath === undefined) process.exit(1);
const stand = await startStand(executablePath);
try {
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] };
  await (await stand.call('/chat/completions', body, stand.apiKey)).text();
  const scrolling = await stand.open();
  await fillRequests(scrolling.page, stand, ROWS);
  for (const step of SCROLL_STEPS)
    console.log(`${step} pixels a frame:`, await measureScroll(scrolling.page, step, SCROLL_MS));
  await scrolling.context.close();
  const tailing = await stand.open();
  console.log(`${PER_SECOND} requests a second:`, await measureTail(stand, tailing.page, PER_SECOND, TAIL_MS));
} finally {
  await stand.close();
}
