import type { InternInputRow, InternRow, InternRunRow, InternStepRow } from '../store/interns/columns.ts';

/** A saved agent. */
export type Intern = InternRow;
export type InternRun = InternRunRow;
export type InternStep = InternStepRow;
/** What waits for a person, or has waited. */
export type InternInput = InternInputRow;
