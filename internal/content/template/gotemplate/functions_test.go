package gotemplate

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/Masterminds/sprig/v3"
)

// left are the functions of sprig that templates cannot call, and why.
var left = map[string]string{
	"env":           "reads the environment of the process",
	"expandenv":     "reads the environment of the process",
	"getHostByName": "asks the name server",
}

// callable are all functions that a template can call.
const callable = `
	abbrev abbrevboth add add1 add1f addf adler32sum ago all any append atoi b32dec b32enc b64dec b64enc base bcrypt biggest
	buildCustomCert camelcase cat ceil chunk clean coalesce compact concat contains date dateInZone dateModify date_in_zone
	date_modify decryptAES deepCopy deepEqual default derivePassword dict dig dir div divf duration durationRound empty
	encryptAES eq ext fail first float64 floor fromJson fromYaml ge genCA genCAWithKey genPrivateKey genSelfSignedCert
	genSelfSignedCertWithKey genSignedCert genSignedCertWithKey get gt has hasKey hasPrefix hasSuffix hello htmlDate htmlDateInZone
	html htpasswd include indent index initial initials int int64 isAbs join js kebabcase keys kindIs kindOf last le len list lower lt max
	maxf merge mergeOverwrite min minf mod mul mulf mustAppend mustChunk mustCompact mustDateModify mustDeepCopy mustFirst
	mustFromJson mustHas mustInitial mustLast mustMerge mustMergeOverwrite mustPrepend mustPush mustRegexFind mustRegexFindAll
	mustRegexMatch mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit mustRest mustReverse mustSlice mustToDate
	mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout must_date_modify ne nindent nospace now omit osBase osClean
	osDir osExt osIsAbs pick pluck plural prepend print printf println push quote randAlpha randAlphaNum randAscii randBytes randInt
	randNumeric readDir readFile regexFind regexFindAll regexMatch regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit
	repeat replace required rest reverse round semver semverCompare seq set sha1sum sha256sum sha512sum shuffle slice snakecase
	sortAlpha split splitList splitn squote sub subf substr swapcase ternary title toDate toDecimal toJson toPrettyJson toRawJson
	toString toStrings toYaml tpl trim trimAll trimPrefix trimSuffix trimall trunc tuple typeIs typeIsLike typeOf uniq unixEpoch unset
	until untilStep untitle upper urlJoin urlParse urlquery uuidv4 values without wrap wrapWith`

// TestNames enumerates the functions: none is there by accident, and none comes
// with a new version of sprig.
func TestNames(t *testing.T) {
	want := strings.Fields(callable)
	r, cancel := Config{}.renderer(t.Context(), nil)
	defer cancel()
	functions := r.allFunctions()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if !slices.Contains(want, name) {
			t.Errorf("templates can call %s", name)
		}
	}
	for _, name := range want {
		if functions[name] == nil {
			t.Errorf("templates cannot call %s", name)
		}
	}
	for name := range sprig.GenericFuncMap() {
		if _, taken := functions[name]; !taken && left[name] == "" {
			t.Errorf("sprig has %s: take it, or say here why not", name)
		}
	}
	for name := range left {
		if slices.Contains(want, name) {
			t.Errorf("templates can call %s, which %s", name, left[name])
		}
	}
}

// TestNothingOutside calls what would reach the machine or the network.
func TestNothingOutside(t *testing.T) {
	t.Setenv("CANARY", "hunter2")
	t.Setenv("TZ", "Asia/Tokyo")
	config := Config{Files: fstest.MapFS{"a": {Data: []byte("inside")}}}
	for _, text := range []string{
		`{{ env "CANARY" }}`, `{{ expandenv "$CANARY" }}`, `{{ getHostByName "localhost" }}`, `{{ lookup "v1" "Secret" "a" "b" }}`,
		`{{ __enter }}`, `{{ __print 1 2 }}`, `{{ readFile "/etc/passwd" }}`, `{{ readFile "../../../etc/passwd" }}`, `{{ readDir "/etc" }}`, `{{ readDir ".." }}`,
		`{{ include "/etc/passwd" . }}`, `{{ include "a/../../etc/passwd" . }}`, `{{ tpl "{{ env \"CANARY\" }}" . }}`,
	} {
		t.Run(text, func(t *testing.T) {
			if result, err := config.Render(t.Context(), Source{Name: "t", Text: text}, nil); err == nil {
				t.Errorf("it gives %q", result.Text)
			}
		})
	}
	for text, want := range map[string]string{
		`{{ readFile "a" }}{{ readFile "/a" }}{{ readFile "./a" }}`: "insideinsideinside",
		`{{ clean "$CANARY" }}{{ osBase "$CANARY" }}`:               "$CANARY$CANARY",
		// The time zone of the machine does not matter, that of the template does.
		`{{ date "15:04 MST" 0 }} {{ dateInZone "15:04 MST" 0 "Local" }} {{ dateInZone "15:04" 0 "Asia/Tokyo" }} {{ dateInZone "15:04" 0 "../../etc/passwd" }}`: "00:00 UTC 00:00 UTC 09:00 00:00",
		`{{ (toDate "2006-01-02" "2024-01-02").Location }} {{ now.Location }}`:                                                                                  "UTC UTC",
	} {
		t.Run(text, func(t *testing.T) {
			result, err := config.Render(t.Context(), Source{Name: "t", Text: text}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(result.Text) != want {
				t.Errorf("got %q, want %q", result.Text, want)
			}
		})
	}
}

// TestHostFunctions checks what functions of the embedder get and give.
func TestHostFunctions(t *testing.T) {
	var got []any
	config := Config{Functions: map[string]Function{
		"added": func(_ context.Context, args []any) (any, error) {
			got = args
			return map[string]any{"n": int64(3), "l": []any{int64(1)}}, nil
		},
		"upper": func(context.Context, []any) (any, error) { return "mine", nil },
	}, Files: fstest.MapFS{"f": {Data: []byte("text")}}}
	bindings := map[string]any{"n": int64(5), "m": map[string]any{"a": []any{int64(1), "x"}, "b": map[string]any{"c": nil}}}
	text := `{{ $r := added .n .m (splitList "," "a,b") (split "," "c") (readFile "f") (add 1 2) 1.5 nil true (dict "k" (list .n)) }}{{ index (list "a" "b") (index $r.l 0) }}{{ until $r.n }}{{ upper "x" }}`
	result, err := config.Render(t.Context(), Source{Name: "t", Text: text}, bindings)
	if err != nil || string(result.Text) != "b[0 1 2]mine" {
		t.Fatalf("%v", err)
	}
	want := []any{
		int64(5), map[string]any{"a": []any{int64(1), "x"}, "b": map[string]any{"c": nil}}, []any{"a", "b"}, map[string]any{"_0": "c"}, "text", int64(3), 1.5, nil, true,
		map[string]any{"k": []any{int64(5)}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
	if _, err := config.Render(t.Context(), Source{Name: "t", Text: `{{ added now }}`}, nil); err == nil || !strings.Contains(err.Error(), "argument 1 of type time cannot be used here") {
		t.Errorf("an argument that is no plain value: %v", err)
	}
}

// TestMentioned: only the functions that a text may call are copied.
func TestMentioned(t *testing.T) {
	r := &renderer{functions: map[string]any{"quote": nil, "b64enc": nil, "my_own": nil, "ö": nil, "add": nil, "int": nil}}
	for _, test := range []struct {
		reason, text string
		want         []string
	}{
		{"a call in an action", `a: {{ .x|quote }}`, []string{"quote"}},
		{"digits and underlines belong to a name", `{{b64enc my_own 1}}`, []string{"b64enc", "my_own"}},
		{"a part of a word does not count", `{{ quoted | xadd | int64 }}`, nil},
		{"digits before a name do not", `{{ 1add }}`, []string{"add"}},
		{"a letter beyond ASCII", `{{ö}}`, []string{"ö"}},
		{"invalid UTF-8 around a word", "\xffquote\xff", []string{"quote"}},
		{"nothing", "", nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := slices.Sorted(maps.Keys(r.mentioned(test.text))); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
