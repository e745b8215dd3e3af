/** What CLI and dashboard need besides the public door. */
export {};
