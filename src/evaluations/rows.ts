import type { DatasetRow, ResultRow, RunRow, ScoreRow } from '../store/evaluations/columns.ts';
import type { Unit } from '../store/evaluations/runs.ts';

/** The rows of the store, for routes that show them. */
export type DatasetRecord = DatasetRow;
export type RunRecord = RunRow;
export type ResultRecord = ResultRow;
export type ScoreRecord = ScoreRow;
export type ResultPlace = Unit;
