import { runTogether } from '../support/run-together.ts';

await runTogether('tests/faults/[!r]*.test.ts');
