package login

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"go.landscaper.dev/internal/console/access"
)

// Names is how users and groups of others are called in the resource cluster.
type Names struct {
	// UserPrefix and GroupsPrefix stand in front of the names.
	UserPrefix, GroupsPrefix string
}

// reserved are the names that only Kubernetes itself gives: an issuer or a proxy that says one has
// no say about it.
const reserved = "system:"

// authenticated is the group of all users, as the API server gives it.
const authenticated = "system:authenticated"

// maxGroups bounds the groups of a user; a review takes them all.
const maxGroups = 500

// user returns the user of a name and groups.
func (n Names) user(name string, groups []string) (access.User, error) {
	if name == "" {
		return access.User{}, errors.New("the name is missing")
	}
	name = n.UserPrefix + name
	if strings.HasPrefix(name, reserved) || !readable(name) {
		return access.User{}, errors.New("the name is one that users do not have")
	}
	if len(groups) > maxGroups {
		return access.User{}, fmt.Errorf("there are more than %d groups", maxGroups)
	}
	user := access.User{Username: name, Groups: []string{authenticated}}
	for _, group := range groups {
		if full := n.GroupsPrefix + group; group != "" && !strings.HasPrefix(full, reserved) && readable(full) {
			user.Groups = append(user.Groups, full)
		}
	}
	return user, nil
}

func readable(name string) bool {
	return len(name) <= 1024 && !strings.ContainsFunc(name, unicode.IsControl)
}
