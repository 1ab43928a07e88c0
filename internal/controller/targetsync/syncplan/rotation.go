package syncplan

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

const (
	// rotationInterval is after which time the token of the source is renewed.
	rotationInterval = 60 * 24 * time.Hour
	// TokenLifetime is how long a token is to be valid. The source may grant less.
	TokenLifetime = 90 * 24 * time.Hour
)

// RotationAt says when the token of the source is to be renewed. Rotated is when it was
// last renewed, zero if that is not known: then it is renewed once.
func RotationAt(rotated time.Time, token string) time.Time {
	if rotated.IsZero() {
		return time.Time{}
	}
	at := rotated.Add(rotationInterval)
	if issued, expires := lifetimeOf(token); expires.After(issued) {
		if granted := issued.Add(expires.Sub(issued) / 3 * 2); granted.Before(at) {
			return granted
		}
	}
	return at
}

// Earliest returns the earlier one of two times; the zero time means no time.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// lifetimeOf reads the lifetime from the claims of a token; zero without such claims. It only
// decides when to request another token.
func lifetimeOf(token string) (issued, expires time.Time) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, time.Time{}
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, time.Time{}
	}
	var validity struct {
		IssuedAt   float64 `json:"iat"`
		Expiration float64 `json:"exp"`
	}
	if json.Unmarshal(claims, &validity) != nil || validity.IssuedAt <= 0 || validity.Expiration <= validity.IssuedAt {
		return time.Time{}, time.Time{}
	}
	return time.Unix(int64(validity.IssuedAt), 0), time.Unix(int64(validity.Expiration), 0)
}
