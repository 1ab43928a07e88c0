package gotemplate

import (
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// sprigNames are the functions that are taken from sprig as they are. What is not
// in this list or in ownFunctions cannot be called: a new version of sprig adds
// nothing by itself. Functions of ownFunctions replace those of sprig.
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

func sprigFunctions() map[string]any { return sprig.GenericFuncMap() }

// ownFunctions are ours: those of the public system that sprig does not have, and
// those of sprig and of text/template that differ here, because they would reach
// the machine, show values in errors or need the numbers of the public system.
func (r *renderer) ownFunctions() map[string]any {
	functions := map[string]any{
		"include": r.include, "tpl": r.tpl, "readFile": r.readFile, "readDir": r.readDir,
		"fail": r.fail, "required": r.required,

		"toYaml": r.toYAML, "fromYaml": r.fromYAML,
		"toJson": r.toJSON, "toPrettyJson": r.toPrettyJSON, "toRawJson": r.toRawJSON, "fromJson": r.fromJSONLenient,
		"mustToJson": r.toJSON, "mustToPrettyJson": r.toPrettyJSON, "mustToRawJson": r.toRawJSON, "mustFromJson": r.fromJSON,

		"now": now, "date": date, "date_in_zone": dateInZone, "dateInZone": dateInZone, "htmlDate": htmlDate,
		"htmlDateInZone": htmlDateInZone, "toDate": toDate, "mustToDate": mustToDate, "ago": ago,

		"kindOf": kindOf, "kindIs": kindIs, "typeOf": typeOf, "typeIs": typeIs, "typeIsLike": typeIsLike,
	}
	maps.Copy(functions, r.comparisons())
	maps.Copy(functions, r.regularExpressions())
	maps.Copy(functions, r.printing())
	return functions
}

func (r *renderer) comparisons() map[string]any {
	return map[string]any{
		"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge,
		"deepEqual": deepEqual, "has": has, "mustHas": has, "without": r.without, "mustWithout": r.without, "uniq": r.uniq, "mustUniq": r.uniq,
		"index": index, "len": length,
	}
}

func (r *renderer) regularExpressions() map[string]any {
	return map[string]any{
		"regexMatch": r.regexMatchLenient, "mustRegexMatch": r.regexMatch,
		"regexFindAll": r.regexFindAll, "mustRegexFindAll": r.regexFindAll,
		"regexFind": r.regexFind, "mustRegexFind": r.regexFind,
		"regexReplaceAll": r.regexReplaceAll, "mustRegexReplaceAll": r.regexReplaceAll,
		"regexReplaceAllLiteral": r.regexReplaceAllLiteral, "mustRegexReplaceAllLiteral": r.regexReplaceAllLiteral,
		"regexSplit": r.regexSplit, "mustRegexSplit": r.regexSplit,
	}
}

func (r *renderer) printing() map[string]any {
	return map[string]any{
		"print": r.sprint, "println": r.sprintln, "printf": r.printf,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	}
}

// fail ends the rendering with a message of the author, in which values are hidden.
func (r *renderer) fail(message string) (string, error) {
	return "", r.authored("fail", message)
}

func (r *renderer) required(message string, value any) (any, error) {
	if text, isText := value.(string); value == nil || (isText && text == "") {
		return nil, r.authored("required", message)
	}
	return value, nil
}

func (r *renderer) authored(name, message string) error {
	shown := message
	if !r.known(message) {
		shown = r.masks().Show(message, r.pieces())
	}
	return &callError{name: name, reason: shown}
}

// passes are functions whose result existed before: it costs nothing.
var passes = set("get set unset index first mustFirst last mustLast dig default coalesce ternary required merge mergeOverwrite mustMerge mustMergeOverwrite")

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

// Names returns the names of all builtin functions, sorted. The control words of
// text/template (and, or, not, call) come on top.
func Names() []string {
	names := slices.Concat(sprigNames, slices.Collect(maps.Keys((&renderer{}).ownFunctions())))
	slices.Sort(names)
	return slices.Compact(names)
}
