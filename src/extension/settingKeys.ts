/** Every setting, without the prefix `loopkeeper.`; a unit test compares this with package.json. */
export const settingKeys = ['loopFolder', 'cliConfig', 'tmuxPath', 'gitPath', 'badge', 'notifications', 'refresh.pollSeconds', 'context.warnAt', 'sessions.plain', 'claudeConfigDir'] as const;
export type SettingKey = (typeof settingKeys)[number];
