/** The command line's door: its errors and exit codes, for the joined documentation and for programs that start it. */
export { CLI_ERRORS, CliError, type CliErrorCode, EXIT, type ExitCode } from "./errors.ts";
