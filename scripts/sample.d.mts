export interface Sample { folder: string; stateRoot: string; workspaceRoot: string }
export function makeSample(home: string, options?: { checkouts?: boolean }): Sample;
export function startAgents(sample: Sample, environment: Record<string, string>): boolean;
