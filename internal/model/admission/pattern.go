package admission

import "strings"

// durationPattern matches Go durations and "none".
const durationPattern = `^(none|[+-]?(0|(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+))$`

// cronPattern matches the schedules that the controllers understand: five fields or a word, with an
// optional time zone in front. It has the limits of each field. The controllers report errors
// beyond the pattern, such as a range that runs backwards or a time zone that does not exist.
func cronPattern() string {
	const (
		months = `[jJ][aA][nN]|[fF][eE][bB]|[mM][aA][rR]|[aA][pP][rR]|[mM][aA][yY]|[jJ][uU][nN]|[jJ][uU][lL]|[aA][uU][gG]|[sS][eE][pP]|[oO][cC][tT]|[nN][oO][vV]|[dD][eE][cC]`
		days   = `[sS][uU][nN]|[mM][oO][nN]|[tT][uU][eE]|[wW][eE][dD]|[tT][hH][uU]|[fF][rR][iI]|[sS][aA][tT]`
	)
	fields := []string{
		cronField(`[0-5]?[0-9]`),
		cronField(`[01]?[0-9]|2[0-3]`),
		cronField(`0?[1-9]|[12][0-9]|3[01]`),
		cronField(`0?[1-9]|1[0-2]|` + months),
		cronField(`[0-6]|` + days),
	}
	words := `@(yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)`
	return `^((CRON_)?TZ=[^ ]+ +)?(` + words + `|\\s*` + strings.Join(fields, `\\s+`) + `\\s*)$`
}

// cronField matches a comma-separated list of values, ranges and steps.
func cronField(value string) string {
	value = `[+]?0*(` + value + `)`
	part := `([*?]|` + value + `(-` + value + `)?)(/[0-9]+)?`
	return `,*` + part + `(,+` + part + `)*,*`
}
