package v1alpha1

import (
	"crypto/sha1"
	"encoding/base32"
	"regexp"
	"strconv"
	"strings"
)

const (
	// InstallationPrefix begins the name of an Installation's scope.
	InstallationPrefix = "Inst."
	// ExecutionPrefix begins the name of an Execution's scope.
	ExecutionPrefix = "Exec."
	// NonContextifiedPrefix begins references by the real name of an object.
	NonContextifiedPrefix = "#"
	// DataObjectSecretDataKey is the key of Secrets that hold a value.
	DataObjectSecretDataKey = "config"
)

var (
	literalName  = regexp.MustCompile(`^([a-z0-9]|([a-z0-9][a-z0-9.-]*[a-z0-9]))$`)
	nameEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

// GenerateDataObjectName returns the name of the DataObject or Target that
// stands for a name in a scope. The empty scope is that of roots.
func GenerateDataObjectName(scope, name string) string {
	if real, direct := strings.CutPrefix(name, NonContextifiedPrefix); direct {
		return real
	}
	if scope == "" && literalName.MatchString(name) {
		return name
	}
	return HashedDataObjectName(scope, name)
}

// HashedDataObjectName returns the name that a DataObject or Target of a scope
// has if its own name cannot be used. Releases before 0.25 used it for roots,
// too.
func HashedDataObjectName(scope, name string) string {
	sum := sha1.Sum([]byte(scope + "/" + name))
	return nameEncoding.EncodeToString(sum[:])
}

// GenerateDataObjectNameWithIndex returns the name of an element of a list.
func GenerateDataObjectNameWithIndex(scope, name string, index int) string {
	return GenerateDataObjectName(scope, name+"["+strconv.Itoa(index)+"]")
}

// GenerateDataObjectNameWithKey returns the name of an element of a map.
func GenerateDataObjectNameWithKey(scope, name, key string) string {
	return GenerateDataObjectName(scope, name+"["+key+"]")
}

// InstallationScope returns the scope of what lives inside an Installation.
func InstallationScope(installation string) string { return InstallationPrefix + installation }

// ExecutionScope returns the scope of what an Execution writes.
func ExecutionScope(execution string) string { return ExecutionPrefix + execution }
