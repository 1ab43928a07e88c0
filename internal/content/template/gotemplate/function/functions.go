// Package function holds the functions that templates call: a list of allowed ones of
// sprig and our own, with errors that repeat no argument.
package function

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"go.landscaper.dev/internal/content/template/gotemplate/operand"
	"go.landscaper.dev/internal/content/template/gotemplate/worklimit"
)

// sprigNames are the functions that are taken from sprig as they are. A function that is neither in
// this list nor in own cannot be called: a new version of sprig adds none. Functions of own replace
// those of sprig.
var sprigNames = strings.Fields(`
	hello

	date_modify dateModify duration durationRound must_date_modify mustDateModify unixEpoch

	abbrev abbrevboth trunc trim upper lower title untitle substr repeat trimall trimAll trimSuffix trimPrefix nospace
	initials randAlphaNum randAlpha randAscii randNumeric swapcase shuffle snakecase camelcase kebabcase wrap wrapWith
	contains hasPrefix hasSuffix quote squote cat indent nindent replace plural sha1sum sha256sum sha512sum adler32sum
	toString atoi split splitList splitn toStrings join sortAlpha

	int64 int float64 seq toDecimal until untilStep add1 add sub div mod mul randInt add1f addf subf divf mulf
	biggest max min maxf minf ceil floor round

	default empty coalesce all any compact mustCompact ternary deepCopy mustDeepCopy

	base dir clean ext isAbs osBase osClean osDir osExt osIsAbs

	b64enc b64dec b32enc b32dec

	tuple list dict get set unset hasKey pluck keys pick omit merge mergeOverwrite mustMerge mustMergeOverwrite values
	append push mustAppend mustPush prepend mustPrepend first mustFirst rest mustRest last mustLast initial mustInitial
	reverse mustReverse slice mustSlice concat dig chunk mustChunk

	bcrypt htpasswd genPrivateKey derivePassword buildCustomCert genCA genCAWithKey genSelfSignedCert
	genSelfSignedCertWithKey genSignedCert genSignedCertWithKey encryptAES decryptAES randBytes
	uuidv4

	semver semverCompare

	regexQuoteMeta
	urlParse urlJoin
`)

// Library has the functions of one rendering that need nothing else of it.
type Library struct{ *worklimit.Meter }

// All returns all of them, ready to be called by a template.
func (l *Library) All() template.FuncMap {
	known := everything()
	functions := make(template.FuncMap, len(known))
	for name, function := range known {
		functions[name] = l.Native(name, function)
	}
	return functions
}

// everything has the functions themselves. A table of them is the same for each rendering, and to write
// one down took as long as to render a small template.
var everything = sync.OnceValue(func() map[string]any {
	functions := make(map[string]any, len(sprigNames)+64)
	taken := sprig.GenericFuncMap()
	for _, name := range sprigNames {
		functions[name] = taken[name]
	}
	maps.Copy(functions, own())
	return functions
})

// own are ours: those of upstream that sprig does not have, and those of sprig and of text/template
// that differ here, because they would reach the machine, show values in errors or need the numbers
// of upstream.
func own() map[string]any {
	functions := map[string]any{
		"toYaml": ToYAML, "fromYaml": FromYAML,
		"toJson": toJSON, "toPrettyJson": toPrettyJSON, "toRawJson": toRawJSON, "fromJson": fromJSONLenient,
		"mustToJson": toJSON, "mustToPrettyJson": toPrettyJSON, "mustToRawJson": toRawJSON, "mustFromJson": FromJSON,

		"now": now, "date": date, "date_in_zone": dateInZone, "dateInZone": dateInZone, "htmlDate": htmlDate,
		"htmlDateInZone": htmlDateInZone, "toDate": toDate, "mustToDate": mustToDate, "ago": ago,

		"kindOf": operand.KindOf, "kindIs": operand.KindIs, "typeOf": operand.TypeOf, "typeIs": operand.TypeIs, "typeIsLike": operand.TypeIsLike,
	}
	maps.Copy(functions, comparisons())
	maps.Copy(functions, regularExpressions())
	maps.Copy(functions, printing())
	return functions
}

func comparisons() map[string]any {
	return map[string]any{
		"eq": operand.Eq, "ne": operand.Ne, "lt": operand.Lt, "le": operand.Le, "gt": operand.Gt, "ge": operand.Ge,
		"deepEqual": operand.DeepEqual, "has": has, "mustHas": has, "without": without, "mustWithout": without, "uniq": uniq, "mustUniq": uniq,
		"index": index, "len": length,
	}
}

func regularExpressions() map[string]any {
	return map[string]any{
		"regexMatch": regexMatchLenient, "mustRegexMatch": regexMatch,
		"regexFindAll": regexFindAll, "mustRegexFindAll": regexFindAll,
		"regexFind": regexFind, "mustRegexFind": regexFind,
		"regexReplaceAll": regexReplaceAll, "mustRegexReplaceAll": regexReplaceAll,
		"regexReplaceAllLiteral": regexReplaceAllLiteral, "mustRegexReplaceAllLiteral": regexReplaceAllLiteral,
		"regexSplit": regexSplit, "mustRegexSplit": regexSplit,
	}
}

func printing() map[string]any {
	return map[string]any{
		"print": fmt.Sprint, "println": fmt.Sprintln, "printf": printf,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	}
}

// showsDigits are functions that print numbers, which never become 1e+06.
var showsDigits = set("toString toStrings quote squote cat print println join sortAlpha duration durationRound")

func set(names string) map[string]bool {
	found := map[string]bool{}
	for _, name := range strings.Fields(names) {
		found[name] = true
	}
	return found
}

// reasons are what is said when a function fails, whose own error may hold values.
var reasons = func() map[string]string {
	found := map[string]string{
		"semver":        "the argument is not a semantic version",
		"semverCompare": "the arguments are not a version constraint and a semantic version",
		"mustToDate":    "the text is not a date of this layout",
		"urlParse":      "the text is not a URL",
		"urlJoin":       "the fields are not those of a URL",
		"dig":           "keys, a default and a map are needed",
		"decryptAES":    "the text is not encrypted with this password",
		"randInt":       "the first number must be smaller than the second",
	}
	for _, name := range []string{"date_modify", "dateModify", "must_date_modify", "mustDateModify"} {
		found[name] = "the text is not a duration such as -1.5h"
	}
	for _, name := range strings.Fields("buildCustomCert genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey") {
		found[name] = "the arguments are not a name, addresses, host names, days and a key"
	}
	for _, name := range strings.Fields(`append push mustAppend mustPush prepend mustPrepend first mustFirst rest mustRest last mustLast
		initial mustInitial reverse mustReverse slice mustSlice concat chunk mustChunk compact mustCompact has mustHas without mustWithout uniq mustUniq`) {
		found[name] = "a list is needed"
	}
	return found
}()
