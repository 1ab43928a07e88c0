package signature

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/digitorus/pkcs7"
	"github.com/digitorus/timestamp"

	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// Identifiers of RFC 5652 and RFC 3161.
var (
	oidSignedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidStampInfo  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
)

// maxStamp is the size of the largest time stamp that is read; they have some
// thousand bytes.
const maxStamp = 64 << 10

// stampedAt returns when an authority for time stamps saw the digest that was
// signed, or the zero time if the signature has no time stamp. A time stamp that
// does not verify is an error.
func (t Trust) stampedAt(signed *descriptor.Signature) (time.Time, error) {
	if signed.Timestamp == nil || signed.Timestamp.Value == "" {
		return time.Time{}, nil
	}
	at, err := t.checkStamp(signed)
	if err != nil {
		return time.Time{}, fmt.Errorf("the time stamp of signature %q: %w", signed.Name, err)
	}
	return at, nil
}

func (t Trust) checkStamp(signed *descriptor.Signature) (time.Time, error) {
	token, err := decodeStamp(signed.Timestamp.Value)
	if err != nil {
		return time.Time{}, err
	}
	message, err := pkcs7.Parse(token)
	if err != nil {
		return time.Time{}, fmt.Errorf("decode it: %w", err)
	}
	stamp, err := timestamp.Parse(token)
	if err != nil {
		return time.Time{}, fmt.Errorf("decode it: %w", err)
	}
	hash, err := access.Hash(signed.Digest.HashAlgorithm)
	if err != nil {
		return time.Time{}, err // says what is wrong
	}
	sum, err := hex.DecodeString(signed.Digest.Value)
	if err != nil || stamp.HashAlgorithm != hash || !bytes.Equal(stamp.HashedMessage, sum) {
		return time.Time{}, errors.New("it is for something else than the digest of this signature")
	}
	if err := t.checkAuthority(message, stamp.Time); err != nil {
		return time.Time{}, err
	}
	return stamp.Time, nil
}

// checkAuthority checks who made a time stamp. The certificate must have been valid at the time of
// the stamp.
func (t Trust) checkAuthority(message *pkcs7.PKCS7, at time.Time) error {
	leaf := message.GetOnlySigner()
	if leaf == nil {
		return errors.New("it does not have exactly one signer whose certificate it brings along")
	}
	// The type of the content is part of what was signed.
	var content asn1.ObjectIdentifier
	if err := message.UnmarshalSignedAttribute(pkcs7.OIDAttributeContentType, &content); err != nil || !content.Equal(oidStampInfo) {
		return errors.New("it is no signed time stamp of RFC 3161")
	}
	if !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageTimeStamping) {
		return fmt.Errorf("the certificate of %q is not for time stamps", leaf.Subject)
	}
	roots, err := t.roots()
	if err != nil {
		return err
	}
	intermediates := x509.NewCertPool()
	for _, certificate := range message.Certificates {
		if err := pemkey.CheckDER(certificate.Raw); err != nil {
			return fmt.Errorf("its certificates: %w", err)
		}
		intermediates.AddCert(certificate)
	}
	err = message.VerifyWithOpts(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping},
	})
	if err != nil {
		return fmt.Errorf("it is not trusted: %w", err)
	}
	return nil
}

// decodeStamp returns a token. Signers write what is in it, signed data, without
// the type around it; both are read.
func decodeStamp(text string) ([]byte, error) {
	if len(text) > maxStamp {
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", len(text), maxStamp)
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("it is not PEM")
	}
	if err := checkDER(block.Bytes, 0); err != nil {
		return nil, err
	}
	var outer asn1.RawValue
	if rest, err := asn1.Unmarshal(block.Bytes, &outer); err != nil || len(rest) > 0 || !outer.IsCompound {
		return nil, errors.New("it is no ASN.1 of RFC 3161")
	}
	var identifier asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(outer.Bytes, &identifier); err == nil {
		return block.Bytes, nil
	}
	wrapped, err := asn1.Marshal(struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue
	}{oidSignedData, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: block.Bytes}})
	if err != nil {
		return nil, fmt.Errorf("decode it: %w", err)
	}
	return wrapped, nil
}

// maxNesting is how deep the parts of a time stamp may be in each other.
const maxNesting = 32

// checkDER checks that each part ends within the one that it is in. The library
// also reads looser encodings, in which parts overlap and are read again and again.
func checkDER(data []byte, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("its parts are in each other more than %d times", maxNesting)
	}
	for len(data) > 0 {
		var part asn1.RawValue
		rest, err := asn1.Unmarshal(data, &part)
		if err != nil {
			return fmt.Errorf("it is not DER: %w", err)
		}
		if part.IsCompound {
			if err := checkDER(part.Bytes, depth+1); err != nil {
				return err
			}
		}
		data = rest
	}
	return nil
}
