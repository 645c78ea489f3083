export function gather(): { bundle: string; faults: string[] };
