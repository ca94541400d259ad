import type { InternInputRow, InternRow, InternRunRow, InternStepRow } from '../store/interns/columns.ts';
import type { MemoryVersion } from '../store/interns/memory.ts';

/** A saved agent. */
export type Intern = InternRow;
export type InternRun = InternRunRow;
export type InternStep = InternStepRow;
/** What waits for a person, or has waited. */
export type InternInput = InternInputRow;
/** What one remembers, after a change of it. */
export type InternMemory = MemoryVersion;
