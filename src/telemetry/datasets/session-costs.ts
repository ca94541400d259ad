import type { ReadSessionCosts, SessionCost, SessionCostSearch } from '../../store/usage/session-costs.ts';
import type { UsageReports } from '../../store/usage/usage-reports.ts';

export { TURN_RANGES } from '../../store/usage/session-costs.ts';

export interface NamedSessionCost extends SessionCost {
  readonly appName: string;
}

export type SessionCosts = (search: SessionCostSearch) => Promise<readonly NamedSessionCost[]>;

/** With the titles of the applications. */
export function nameSessionCosts(read: ReadSessionCosts, { appTitles }: Pick<UsageReports, 'appTitles'>): SessionCosts {
  return async (search) => {
    const cells = await read(search);
    const urls = [...new Set(cells.map(({ appUrl }) => appUrl))].filter((url) => url !== '');
    const titles = await appTitles(urls);
    return cells.map((cell) => ({ ...cell, appName: titles.get(cell.appUrl) ?? cell.appUrl }));
  };
}
