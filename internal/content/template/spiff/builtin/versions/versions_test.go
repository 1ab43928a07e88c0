package versions_test

import (
	"testing"

	"go.landscaper.dev/test/language"
)

func TestParts(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"what is missing is 0", `semver("1") " " semver("v1.2")`, `1.0.0 1.2.0`},
		{"suffixes stay", `semver("v1.2.3-rc.1+b5")`, `1.2.3-rc.1+b5`},
		{"numbers", `( $v="v1.2.3-rc.1" ) [semvermajor(v), semverminor(v), semverpatch(v)]`, `[1, 2, 3]`},
		{"a large number", `semvermajor("4294967296.0.0")`, `4294967296`},
		{"no prerelease", `semverprerelease("1.2.3")`, `""`},
		{"a prerelease is set, the v stays", `semverprerelease("v1.2.3+b", "rc.1")`, `v1.2.3-rc.1+b`},
		{"a prerelease is removed", `semverprerelease("1.2.3-rc.1", "")`, `1.2.3`},
		{"metadata", `semvermetadata("1.2.3-rc+b.1")`, `b.1`},
		{"metadata is removed", `semvermetadata("v1.2.3-rc+b.1", "")`, `v1.2.3-rc`},
		{"the release", `semverrelease("v1.2.3-rc+b")`, `v1.2.3`},
		{"the release of another version", `semverrelease("1.2.3-rc+b", "2.0")`, `2.0.0-rc+b`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a text that is not a version", `semver("one")`, `"one" is not a version`},
		{"four numbers", `semver("1.2.3.4")`, "is not a version"},
		{"an empty text", `semvermajor("")`, "is not a version"},
		{"a number is not a version", `semver(1)`, "argument 1 must be a string"},
		{"a prerelease with leading zeros", `semverprerelease("1.2.3", "01")`, `"01" does not fit into a version`},
		{"metadata with a blank", `semvermetadata("1.2.3", "a b")`, `"a b" does not fit into a version`},
		{"a release that is not a version", `semverrelease("1.2.3", "x")`, `"x" is not a version`},
	})
}

func TestIncrements(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"the next major version drops the rest", `semverincmajor("1.2.3-rc+b")`, `2.0.0`},
		{"the next minor version drops the rest", `semverincminor("v1.2.3-rc+b")`, `v1.3.0`},
		{"the next patch version", `semverincpatch("v1.2.3")`, `v1.2.4`},
		{"the version behind a prerelease is its release", `semverincpatch("1.2.3-rc.1")`, `1.2.3`},
		{"parts that are missing are 0", `semverincpatch("1")`, `1.0.1`},
	})
}

func TestOrder(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"versions are compared by number, not as texts", `semvercmp("1.10.0", "1.9.0")`, `1`},
		{"a prerelease comes before its release", `semvercmp("1.0.0-rc", "1.0.0")`, `-1`},
		{"numbers in a prerelease", `semvercmp("1.0.0-rc.10", "1.0.0-rc.9")`, `1`},
		{"metadata has no order", `semvercmp("1.0.0+a", "1.0.0+b")`, `0`},
		{"the v has no order", `semvercmp("v1.0.0", "1")`, `0`},
		{"sorted, spelled as given", `semversort("v1.10", "1.9", "v1.9.0-rc")`, `[v1.9.0-rc, "1.9", v1.10]`},
		{"a list", `semversort(["2", "1"])`, `["1", "2"]`},
		{"equal versions keep their order", `semversort("1.0", "v1", "1.0.0")`, `["1.0", v1, "1.0.0"]`},
		{"nothing to sort", `semversort() semversort([])`, `[]`},
		{"the source is not changed", `( $l=["2", "1"] ) [semversort(l), l][1]`, `["2", "1"]`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a text among versions", `semversort("1", "x")`, `"x" is not a version`},
		{"a number among versions", `semversort(["1", 2])`, "argument 2 must be a string"},
		{"nothing to compare with", `semvercmp("1")`, "takes 2 arguments"},
	})
}

func TestConstraints(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"~ keeps the minor version", `[semvermatch("1.2.9", "~1.2.3"), semvermatch("1.3.0", "~1.2.3")]`, `[true, false]`},
		{"^ keeps the major version", `[semvermatch("1.9.0", "^1.2.3"), semvermatch("2.0.0", "^1.2.3")]`, `[true, false]`},
		{"before the first release the minor version counts", `semvermatch("0.3.0", "^0.2.3")`, `false`},
		{"any number", `semvermatch("1.2.3", "1.2.x")`, `true`},
		{"from and to", `[semvermatch("2.0.0", "1.0 - 2.0"), semvermatch("2.0.1", "1.0.0 - 2.0.0")]`, `[true, false]`},
		{"all in one text", `semvermatch("1.5.0", ">=1, <2, !=1.4.0")`, `true`},
		{"one of several", `semvermatch("3.0.0", "^1 || ^3")`, `true`},
		{"all arguments", `semvermatch("1.5.0", ">1", "<1.5")`, `false`},
		{"a prerelease only where one is asked for", `[semvermatch("1.5.0-rc", ">1"), semvermatch("1.5.0-rc", ">1.0.0-0")]`, `[false, true]`},
		{"no constraint", `semvermatch("1.5")`, `true`},
		{"the version comes back as it was", `semvervalidate("v1.5", "^1")`, `v1.5`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a text that is not a constraint", `semvermatch("1", "about 1")`, `"about 1" is not a version constraint`},
		{"a constraint is read even if another one fails", `semvermatch("1", ">2", "?")`, `"?" is not a version constraint`},
		{"a number is no constraint", `semvermatch("1", 1)`, "argument 2 must be a string"},
		{"a version that does not meet them", `semvervalidate("v1.5", "^2")`, `"v1.5" does not meet the constraints`},
		{"a text to be validated that is not a version", `semvervalidate("x")`, `"x" is not a version`},
	})
}
