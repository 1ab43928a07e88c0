// Package versions holds the functions for semantic versions.
package versions

import (
	"sort"
	"strings"

	"github.com/Masterminds/semver/v3"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Functions are those for semantic versions.
var Functions = []call.Function{
	{Name: "semver", Usage: "semver(version)", Result: "string", Min: 1, Max: 1,
		Run: version(func(v *semver.Version) value.Value { return value.Text(v.String()) }),
		Doc: "The normal form: three numbers, no `v`.", Example: `semver("v1.2-beta.1")`, Gives: `1.2.0-beta.1`},
	{Name: "semvermajor", Usage: "semvermajor(version)", Result: "int", Min: 1, Max: 1,
		Run: version(func(v *semver.Version) value.Value { return value.Int(v.Major()) }),
		Doc: "The major number.", Example: `semvermajor("1.2.3")`, Gives: `1`},
	{Name: "semverminor", Usage: "semverminor(version)", Result: "int", Min: 1, Max: 1,
		Run: version(func(v *semver.Version) value.Value { return value.Int(v.Minor()) }),
		Doc: "The minor number.", Example: `semverminor("1.2.3")`, Gives: `2`},
	{Name: "semverpatch", Usage: "semverpatch(version)", Result: "int", Min: 1, Max: 1,
		Run: version(func(v *semver.Version) value.Value { return value.Int(v.Patch()) }),
		Doc: "The patch number.", Example: `semverpatch("1.2.3")`, Gives: `3`},
	{Name: "semverprerelease", Usage: "semverprerelease(version [, new])", Result: "string", Min: 1, Max: 2,
		Run:     versionPart((*semver.Version).Prerelease, semver.Version.SetPrerelease),
		Doc:     "The prerelease, or the version with another prerelease (the empty text removes it).",
		Example: `semverprerelease("1.2.3-rc.1")`, Gives: `rc.1`},
	{Name: "semvermetadata", Usage: "semvermetadata(version [, new])", Result: "string", Min: 1, Max: 2,
		Run:     versionPart((*semver.Version).Metadata, semver.Version.SetMetadata),
		Doc:     "The metadata, or the version with other metadata (the empty text removes it).",
		Example: `semvermetadata("1.2.3", "demo")`, Gives: `1.2.3+demo`},
	{Name: "semverrelease", Usage: "semverrelease(version [, release])", Result: "string", Min: 1, Max: 2, Run: versionRelease,
		Doc:     "The version without prerelease and metadata, or with the release of another version.",
		Example: `semverrelease("v1.2.3-rc.1")`, Gives: `v1.2.3`},
	{Name: "semverincmajor", Usage: "semverincmajor(version)", Result: "string", Min: 1, Max: 1,
		Run: increment(semver.Version.IncMajor), Doc: "The next major version.", Example: `semverincmajor("v1.2.3")`, Gives: `v2.0.0`},
	{Name: "semverincminor", Usage: "semverincminor(version)", Result: "string", Min: 1, Max: 1,
		Run: increment(semver.Version.IncMinor), Doc: "The next minor version.", Example: `semverincminor("1.2.3")`, Gives: `1.3.0`},
	{Name: "semverincpatch", Usage: "semverincpatch(version)", Result: "string", Min: 1, Max: 1,
		Run: increment(semver.Version.IncPatch), Doc: "The next patch version; a prerelease just becomes its release.",
		Example: `semverincpatch("1.2.3")`, Gives: `1.2.4`},
	{Name: "semvercmp", Usage: "semvercmp(a, b)", Result: "int", Min: 2, Max: 2, Run: compareVersions,
		Doc: "-1, 0 or 1.", Example: `semvercmp("1.2.0", "1.10.0")`, Gives: `-1`},
	{Name: "semvermatch", Usage: "semvermatch(version, constraint…)", Result: "bool", Min: 1, Max: -1, Run: matchVersion,
		Doc:     "Whether a version meets all constraints, such as `~1.2`, `^1`, `>=1.2, <2 || 3.x`.",
		Example: `semvermatch("1.2.3", "^1.1")`, Gives: `true`},
	{Name: "semversort", Usage: "semversort(version…) or semversort(list)", Result: "list", Min: 0, Max: -1, Run: sortVersions,
		Doc: "The versions in ascending order, spelled as given.", Example: `semversort("1.10", "1.9")`, Gives: `["1.9","1.10"]`},
	{Name: "semvervalidate", Usage: "semvervalidate(version, constraint…)", Result: "string", Min: 1, Max: -1, Run: validateVersion,
		Doc: "The version, if it meets all constraints; else an error.", Example: `semvervalidate("1.2.3", ">=1")`, Gives: `1.2.3`},
}

// At returns argument i as a version.
func At(c *call.Call, i int) (*semver.Version, error) {
	text, err := c.Text(i)
	if err != nil {
		return nil, err
	}
	v, err := semver.NewVersion(text)
	if err != nil {
		return nil, c.Failf("%s is not a version", c.Quote(text))
	}
	return v, nil
}

func version(f func(*semver.Version) value.Value) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		v, err := At(c, 0)
		if err != nil {
			return nil, err
		}
		return f(v), nil
	}
}

// spelled keeps the "v" in front of the version that a result is made of.
func spelled(v semver.Version, like string) value.Value {
	text := v.String()
	if strings.HasPrefix(like, "v") {
		text = "v" + text
	}
	return value.Text(text)
}

func versionPart(get func(*semver.Version) string, set func(semver.Version, string) (semver.Version, error)) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		v, err := At(c, 0)
		if err != nil {
			return nil, err
		}
		if c.Len() == 1 {
			return value.Text(get(v)), nil
		}
		part, err := c.Text(1)
		if err != nil {
			return nil, err
		}
		changed, err := set(*v, part)
		if err != nil {
			return nil, c.Failf("%s does not fit into a version", c.Quote(part))
		}
		return spelled(changed, v.Original()), nil
	}
}

func versionRelease(c *call.Call) (value.Value, error) {
	v, err := At(c, 0)
	if err != nil {
		return nil, err
	}
	if c.Len() == 1 {
		return spelled(*semver.New(v.Major(), v.Minor(), v.Patch(), "", ""), v.Original()), nil
	}
	r, err := At(c, 1)
	if err != nil {
		return nil, err
	}
	return spelled(*semver.New(r.Major(), r.Minor(), r.Patch(), v.Prerelease(), v.Metadata()), r.Original()), nil
}

func increment(f func(semver.Version) semver.Version) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		v, err := At(c, 0)
		if err != nil {
			return nil, err
		}
		return spelled(f(*v), v.Original()), nil
	}
}

func compareVersions(c *call.Call) (value.Value, error) {
	a, err := At(c, 0)
	if err != nil {
		return nil, err
	}
	b, err := At(c, 1)
	if err != nil {
		return nil, err
	}
	return value.Int(a.Compare(b)), nil
}

// Meets reports whether a version meets all constraints from argument i on.
func Meets(c *call.Call, v *semver.Version, i int) (bool, error) {
	met := true
	for ; i < c.Len(); i++ {
		text, err := c.Text(i)
		if err != nil {
			return false, err
		}
		constraint, err := semver.NewConstraint(text)
		if err != nil {
			return false, c.Failf("%s is not a version constraint", c.Quote(text))
		}
		met = met && constraint.Check(v)
	}
	return met, nil
}

func matchVersion(c *call.Call) (value.Value, error) {
	v, err := At(c, 0)
	if err != nil {
		return nil, err
	}
	met, err := Meets(c, v, 1)
	return value.Bool(met), err
}

func validateVersion(c *call.Call) (value.Value, error) {
	v, err := At(c, 0)
	if err != nil {
		return nil, err
	}
	met, err := Meets(c, v, 1)
	if err != nil {
		return nil, err
	}
	if !met {
		return nil, c.Failf("%s does not meet the constraints", c.Quote(v.Original()))
	}
	return c.Args[0], nil
}

func sortVersions(c *call.Call) (value.Value, error) {
	var versions []*semver.Version
	args := c.Args
	if l, ok := c.Arg(0).(*value.List); ok && c.Len() == 1 {
		args = nil
		for _, n := range l.Items {
			args = append(args, n.Value)
		}
	}
	inner := &call.Call{Host: c.Host, Function: c.Function, Args: args}
	for i := range args {
		v, err := At(inner, i)
		if err != nil {
			return nil, err
		}
		versions = append(versions, v)
	}
	sort.SliceStable(versions, func(i, j int) bool { return versions[i].LessThan(versions[j]) })
	texts := make([]string, len(versions))
	for i, v := range versions {
		texts[i] = v.Original()
	}
	return call.TextList(texts), nil
}
