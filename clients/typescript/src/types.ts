// Made by `npm run client-types` from the description of the API; make it anew instead of changing it.

export interface PackageRecord {
  /** Unique hash of repository, identifier, version and architecture. */
  readonly id: string;
  /** Package identifier. */
  readonly package_id: string;
  /** Legacy package identifier; use package_id. Deprecated since 2026-11-20. @deprecated */
  readonly package: string;
  /** Package name. */
  readonly name: string | null;
  /** Package description, complete. */
  readonly description: string | null;
  /** Package version. */
  readonly version: string;
  /** Whether this is the newest version of the package for its architecture in its repository. */
  readonly latest_version: boolean;
  /** Supported architecture. */
  readonly architecture: string;
  /** Package section. */
  readonly section: string | null;
  /** Maintainer. */
  readonly maintainer: string | null;
  /** Author. */
  readonly author: string | null;
  /** Price of the package. */
  readonly price: 'Free' | 'Paid';
  /** Package tags. */
  readonly tags: ReadonlyArray<string> | null;
  /** Whether the package is visible. */
  readonly visible: boolean;
  /** SHA-256 of the package file. */
  readonly sha256_hash: string | null;
  /** Download size in bytes; 0 if the repository does not say. */
  readonly package_size: number;
  /** Installed size in bytes. */
  readonly installed_size: number | null;
  /** File name of the package in the repository. */
  readonly package_filename: string;
  /** Address of the icon. */
  readonly icon_url: string;
  /** Address of the header image. */
  readonly header_url: string;
  /** Address of the native depiction (version 2). */
  readonly native_depiction: string | null;
  /** Identifier of the hosting repository. */
  readonly repository_id: string;
  /** Ranking of the hosting repository: 1 is best. */
  readonly quality: number;
  /** Legacy repository ranking; use quality. Deprecated since 2026-11-20. @deprecated */
  readonly repositoryTier: number;
  readonly refs: {
    /** All versions of this package. */
    readonly meta: string;
    /** The hosting repository. */
    readonly repo: string;
  };
  readonly repository: EmbeddedRepository;
}

export interface EmbeddedRepository {
  /** APT suite; "./" for a flat repository. */
  readonly suite: string;
  /** Repository name: Origin of its Release, else Label. */
  readonly name: string | null;
  /** Repository description. */
  readonly description: string | null;
  /** Date of the Release file, or if it has none, when the origin last changed. */
  readonly date: string;
  /** Legacy slug; use id. Deprecated since 2026-11-20. @deprecated */
  readonly slug: string;
  /** Address of the repository. */
  readonly uri: string;
  /** Whether it has a detached Release signature. */
  readonly origin_has_release_gpg: boolean;
  /** Ranking of the repository: 1 is best, 5 is last. */
  readonly quality: number;
  /** Number of package records in the repository. */
  readonly package_count: number;
  /** Whether it is a bootstrap repository. */
  readonly bootstrap: boolean;
  /** Whether it has an InRelease file. */
  readonly origin_has_in_release: boolean;
  /** Repository identifier. */
  readonly id: string;
  /** Whether the repository is visible. */
  readonly visible: boolean;
  /** Path of the Release file below the address. */
  readonly origin_release_path: string;
  /** Host name of the origin. */
  readonly origin_hostname: string;
  /** SHA-256 of the Packages index as downloaded. */
  readonly origin_packages_hash: string;
  /** Whether the origin uses https. */
  readonly origin_uses_https: boolean;
  /** Legacy ranking; use quality. Deprecated since 2026-11-20. @deprecated */
  readonly tier: number;
  /** When the origin was last seen to change. */
  readonly origin_last_updated: string;
  /** Whether it supports payment version 1. */
  readonly origin_supports_payment_v1: boolean;
  /** Sections of its packages, sorted. */
  readonly sections: ReadonlyArray<string>;
  /** Repository version; empty if it has none. */
  readonly version: string;
  /** SHA-256 of the Release file as downloaded. */
  readonly origin_release_hash: string;
  /** Path of the Packages index below the address. */
  readonly origin_packages_path: string;
  /** Whether it supports payment version 2 (native). */
  readonly origin_supports_payment_v2: boolean;
  /** Legacy bootstrap flag; use bootstrap. Deprecated since 2026-11-20. @deprecated */
  readonly isBootstrap: boolean;
}

export interface RepositoryRecord {
  /** Repository identifier. */
  readonly id: string;
  /** Repository name: Origin of its Release, else Label. */
  readonly name: string | null;
  /** Repository description. */
  readonly description: string | null;
  /** Address of the repository. */
  readonly uri: string;
  /** APT suite; "./" for a flat repository. */
  readonly suite: string;
  /** Sections of its packages, sorted. */
  readonly sections: ReadonlyArray<string>;
  /** Repository version. */
  readonly version: string | null;
  /** Date of the Release file. */
  readonly date: string | null;
  /** Whether the repository is visible. */
  readonly visible: boolean;
  /** Number of package records in the repository. */
  readonly package_count: number;
  /** Ranking of the repository: 1 is best, 5 is last. */
  readonly quality: number;
  /** Whether it is a bootstrap repository. */
  readonly bootstrap: boolean;
  /** Host name of the origin. */
  readonly origin_hostname: string;
  /** When the origin was last seen to change. */
  readonly origin_last_updated: string;
  /** Path of the Release file below the address. */
  readonly origin_release_path: string;
  /** SHA-256 of the Release file as downloaded. */
  readonly origin_release_hash: string;
  /** Path of the Packages index below the address. */
  readonly origin_packages_path: string;
  /** SHA-256 of the Packages index as downloaded. */
  readonly origin_packages_hash: string;
  /** Whether it has a detached Release signature. */
  readonly origin_has_release_gpg: boolean;
  /** Whether it has an InRelease file. */
  readonly origin_has_in_release: boolean;
  /** Whether the origin uses https. */
  readonly origin_uses_https: boolean;
  /** Whether it supports payment version 1. */
  readonly origin_supports_payment_v1: boolean;
  /** Whether it supports payment version 2 (native). */
  readonly origin_supports_payment_v2: boolean;
  /** Payment endpoint for payment version 1. */
  readonly partner_endpoint: string | null;
  readonly refs: {
    /** The list of its packages. */
    readonly packages: string;
    /** This repository. */
    readonly meta: string;
  };
  /** Legacy slug; use id. Deprecated since 2026-11-20. @deprecated */
  readonly slug: string;
  /** Legacy bootstrap flag; use bootstrap. Deprecated since 2026-11-20. @deprecated */
  readonly isBootstrap: boolean;
  /** Legacy ranking; use quality. Deprecated since 2026-11-20. @deprecated */
  readonly tier: number;
}

export interface Finding {
  /** Code of what is wrong; stable. */
  readonly code: 'address-refused' | 'port-refused' | 'scheme-refused' | 'redirects' | 'redirect-insecure' | 'redirect-unreadable' | 'no-network' | 'dns' | 'connection' | 'certificate-expired' | 'certificate-untrusted' | 'certificate-name' | 'tls' | 'timeout' | 'too-slow' | 'too-large' | 'headers-too-large' | 'truncated' | 'protocol' | 'aborted' | 'origin-busy' | 'server-error' | 'budget-exceeded' | 'backing-off' | 'release-missing' | 'release-forbidden' | 'release-html' | 'release-empty' | 'release-unreadable' | 'release-length-unknown' | 'release-older' | 'signature-missing' | 'signature-unanswered' | 'signature-lost' | 'signature-bad' | 'signature-weak' | 'signature-binary' | 'signature-key-changed' | 'signature-key-expired' | 'signature-key-revoked' | 'signature-expired' | 'index-missing' | 'index-forbidden' | 'index-html' | 'index-empty' | 'index-wrong-compression' | 'index-truncated' | 'index-corrupt' | 'index-bomb' | 'index-trailing-garbage' | 'index-too-large' | 'index-unreadable' | 'index-length-unknown' | 'index-encoded' | 'index-mismatch' | 'index-unverified' | 'index-shrunken' | 'store-failed' | 'internal' | 'release-line-malformed' | 'release-blank-line' | 'release-field-repeated' | 'signatures-too-many' | 'release-field-oversized' | 'release-encoding-not-utf8' | 'release-hash-malformed' | 'release-hash-empty' | 'release-entry-conflict' | 'release-architecture-singular' | 'release-payment-gateway-malformed' | 'release-expired' | 'release-in-future' | 'release-date-unreadable' | 'release-without-hashes' | 'release-weak-hashes' | 'index-not-listed' | 'index-gone' | 'index-variants-differ' | 'index-several-streams' | 'inrelease-unsigned' | 'inrelease-error' | 'signature-unreadable' | 'payment-endpoint-unreadable' | 'extras-unanswered' | 'depiction-unusable' | 'redirected' | 'address-former' | 'snapshot-damaged' | 'package-missing' | 'package-malformed' | 'version-missing' | 'version-unreadable' | 'version-malformed' | 'architecture-missing' | 'architecture-malformed' | 'filename-missing' | 'filename-malformed' | 'size-missing' | 'size-malformed' | 'installed-size-malformed' | 'sha256-malformed' | 'icon-malformed' | 'header-malformed' | 'native-depiction-malformed' | 'relation-malformed' | 'field-malformed' | 'field-commented-out' | 'field-repeated' | 'continuation-orphaned' | 'encoding-not-utf8' | 'stanza-oversized' | 'stanza-empty' | 'stanza-duplicate' | 'records-too-many' | 'versions-too-many' | 'field-oversized' | 'record-oversized' | 'publication-too-large' | 'provides-too-many' | 'sections-too-many' | 'package-bytes-changed' | 'package-diverges';
  /** broken: keeps packages or updates from people; weak: a risk; note: worth tidying. */
  readonly weight: 'broken' | 'weak' | 'note';
  /** Number of occurrences. */
  readonly count: number;
  /** What is wrong, briefly. */
  readonly title: string;
  /** A sentence for the operator, with the first occurrence; of redirects with one to each place. */
  readonly for_operator: string;
  /** A sentence for the owner: how to fix it. */
  readonly for_owner: string;
  /** Since when it is so; null if not known. */
  readonly since: string | null;
}

export interface FindingsRecord {
  /** Repository identifier. */
  readonly repository_id: string;
  /** Why the last crawl failed; null if it succeeded. */
  readonly failure: Finding | null;
  /** How the Release of the current data is signed; null if none was ever read. */
  readonly signature: {
    readonly state: 'unsigned' | 'signed' | 'verified' | 'lost' | 'unanswered' | 'bad' | 'weak' | 'binary' | 'key-changed' | 'key-expired' | 'key-revoked' | 'signature-expired';
    /** What the state means. */
    readonly text: string;
    /** Fingerprints or key identifiers that the signatures name. */
    readonly signers: ReadonlyArray<string>;
  } | null;
  /** Findings, ordered by code. */
  readonly findings: ReadonlyArray<Finding>;
}

export interface SafetyRecord {
  /** The supplied repository URI, unchanged. */
  readonly uri: string;
  /** Whether the repository is safe. */
  readonly safe: boolean;
}

export interface HealthRecord {
  readonly healthy: boolean;
  readonly service_data: {
    readonly healthy: boolean;
    readonly search_index_healthy: boolean;
    readonly database_healthy: boolean;
  };
  readonly route_data: {
    readonly package: {
      readonly healthy: boolean;
      readonly lookup_healthy: boolean;
      readonly multi_lookup_healthy: boolean;
      readonly search_healthy: boolean;
    };
    readonly repository: {
      readonly healthy: boolean;
      readonly lookup_healthy: boolean;
      readonly packages_healthy: boolean;
      readonly safety_healthy: boolean;
      readonly search_healthy: boolean;
    };
    readonly download: {
      readonly healthy: boolean;
      readonly ingest_healthy: boolean;
    };
  };
  /** What a replica answers from; left out if the server is no replica. */
  readonly replica?: {
    /** Number of the generation; null before the first. */
    readonly generation: number | null;
    /** When the generation was published. */
    readonly published: string | null;
    /** Seconds since it was published. */
    readonly age: number | null;
    /** When the publication last confirmed it as newest; null if not since the start. */
    readonly confirmed: string | null;
  };
}

export interface LandingRecord {
  readonly info: {
    readonly name: string;
    readonly version: string;
    /** Digest of what is published; changes when the index does. */
    readonly build: string;
    readonly platform: string;
    readonly runtime: string;
  };
  readonly reference: {
    readonly docs: string;
    /** What clients must know about each release. */
    readonly changes: string;
    readonly privacy_policy: string;
    /** Day on which the privacy policy last changed. */
    readonly privacy_updated: string;
    readonly contact_email: string;
    readonly copyright: string;
    /** Ed25519 public key (32 bytes, base64url) for the signature of `generation.json` in `generation.jws`. */
    readonly signing_key?: string;
  };
  readonly statistics: {
    readonly repositories: number;
    /** Distinct package identifiers. */
    readonly packages: number;
    /** Package records. */
    readonly versions: number;
    /** When a change of any origin was last seen. */
    readonly updated: string;
  };
  /** What a replica answers from; left out if the server is no replica. */
  readonly replica?: {
    /** Number of the generation; null before the first. */
    readonly generation: number | null;
    /** When the generation was published. */
    readonly published: string | null;
    /** Seconds since it was published. */
    readonly age: number | null;
    /** When the publication last confirmed it as newest; null if not since the start. */
    readonly confirmed: string | null;
  };
}

export interface DependencyClosure {
  /** Package identifier. */
  readonly package_id: string;
  /** The requested architecture. */
  readonly architecture: string;
  /** The requested firmware; null for any. */
  readonly firmware: string | null;
  /** installable: everything needed is listed; unmet: something cannot be met, see unmet; too-large: it took more than 10000 packages or 300000 relations, or device or unmet would have more than 1000 entries, and only a part is listed. */
  readonly outcome: 'installable' | 'unmet' | 'too-large';
  /** The repositories already added, by identifier, sorted. */
  readonly repositories: ReadonlyArray<string>;
  /** Requested repositories that are not known here, sorted. */
  readonly unknown_repositories: ReadonlyArray<string>;
  /** Repositories to add, by ranking. */
  readonly add: ReadonlyArray<{
    /** Identifier of the repository. */
    readonly repository_id: string;
    readonly uri: string;
    readonly suite: string;
    /** Number of packages that come from it. */
    readonly package_count: number;
    /** Whether its address is safe to add, as /safety says. If not, none that is safe has what is needed. */
    readonly safe: boolean;
  }>;
  /** What would be installed: the package itself first, then each package after the first that needs it. Recommends are left out. */
  readonly packages: ReadonlyArray<{
    /** Package identifier. */
    readonly package_id: string;
    readonly version: string;
    readonly architecture: string;
    /** Identifier of the repository. */
    readonly repository_id: string;
    /** The package that needs it; null for the requested package. */
    readonly required_by: string | null;
    readonly relation: string | null;
  }>;
  /** What the device itself provides. */
  readonly device: ReadonlyArray<{
    readonly name: string;
    /** The relation, such as "b (>= 1.2)"; cut at 300 characters. */
    readonly relation: string;
    /** The package that needs it; null for the requested package. */
    readonly required_by: string | null;
    /** system: describes the device; essential: part of every bootstrap. */
    readonly reason: 'system' | 'essential';
  }>;
  /** Dependencies of which no alternative can be met, and why. */
  readonly unmet: ReadonlyArray<{
    /** The package that needs it; null for the requested package. */
    readonly required_by: string | null;
    /** Null for the requested package. */
    readonly field: 'Pre-Depends' | 'Depends' | null;
    readonly alternatives: ReadonlyArray<{
      /** The relation, such as "b (>= 1.2)"; cut at 300 characters. */
      readonly relation: string;
      /** not-found: no repository has it; architecture: it exists only for other architectures; version: APT takes another version, and no repository has a newer one that fits; firmware: the device runs another firmware; conflict: the package that has it conflicts with others to be installed; dependency: the package that has it cannot be installed (if it is installed anyway, it has an entry of its own); repositories: another repository has it, but no more repositories are added; unreadable: the relation cannot be read */
      readonly reason: 'not-found' | 'architecture' | 'version' | 'firmware' | 'conflict' | 'dependency' | 'repositories' | 'unreadable';
      /** The reason as a sentence, with names and versions. */
      readonly text: string;
    }>;
    /** Number of further alternatives, not listed. */
    readonly left_out: number;
  }>;
}

export interface Dependencies {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly data: DependencyClosure;
}

export interface PackageList {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<PackageRecord>;
}

export interface PackagePage {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly refs: {
    readonly nextPage?: string;
    readonly previousPage?: string;
  };
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<PackageRecord>;
}

export interface Repository {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly data: RepositoryRecord;
}

export interface RepositoryList {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<RepositoryRecord>;
}

export interface RepositoryPage {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly refs: {
    readonly nextPage?: string;
    readonly previousPage?: string;
  };
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<RepositoryRecord>;
}

export interface RepositoryFindings {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly data: FindingsRecord;
}

export interface SafetyList {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<SafetyRecord>;
}

export interface DivergencesRecord {
  /** Pairs of repositories with different bytes for the same builds, those with the most first; at most 1,000. */
  readonly pairs: ReadonlyArray<{
    /** Identifiers of both repositories. */
    readonly repositories: ReadonlyArray<string>;
    /** When the latest of these differences appeared, as far as known. */
    readonly since: string;
    /** Number of builds. A build is a version of a package for an architecture. */
    readonly count: number;
    /** The first of these builds, by package; at most 20. */
    readonly builds: ReadonlyArray<{
      /** Package identifier. */
      readonly package_id: string;
      /** Package version. */
      readonly version: string;
      /** Supported architecture. */
      readonly architecture: string;
    }>;
  }>;
  /** Repositories that changed the bytes of a version, the latest first; at most 1,000. */
  readonly changed: ReadonlyArray<{
    /** Repository identifier. */
    readonly repository_id: string;
    /** When the change was seen. */
    readonly changed: string;
    /** Number of builds. A build is a version of a package for an architecture. */
    readonly count: number;
    /** The first of these builds, by package; at most 20. */
    readonly builds: ReadonlyArray<{
      /** Package identifier. */
      readonly package_id: string;
      /** Package version. */
      readonly version: string;
      /** Supported architecture. */
      readonly architecture: string;
    }>;
  }>;
}

export interface Divergences {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly data: DivergencesRecord;
}

export interface StatusRecord {
  /** The last builds, at most 30, the newest last. */
  readonly builds: ReadonlyArray<{
    /** When the build ended. */
    readonly date: string;
    /** published: the build was published. nothing: no repository gave anything usable. failed: the build ended before it was published. What was published before still stands, unless the build ended while files were put in place: then documents may be new and pages old. */
    readonly ended: 'published' | 'nothing' | 'failed';
    readonly repositories: {
      /** Repositories whose data changed. */
      readonly fresh: number;
      /** Repositories whose origin confirmed the data. */
      readonly unchanged: number;
      /** Repositories that gave nothing usable and keep their former data. */
      readonly stale: number;
      /** Repositories that gave nothing usable and have no former data. */
      readonly failed: number;
      /** Repositories that the build did not visit. */
      readonly unvisited: number;
    };
    readonly packages: {
      readonly added: number;
      readonly updated: number;
      readonly removed: number;
    };
  }>;
  /** Every repository of the manifest, by slug. */
  readonly repositories: ReadonlyArray<{
    readonly repository_id: string;
    /** Outcome of the last visit. fresh: the data changed. unchanged: the origin confirmed it. stale: nothing usable came, and the former data stays. failed: nothing usable came, and there is no former data. */
    readonly outcome: 'fresh' | 'unchanged' | 'stale' | 'failed';
    /** Since when it has been in order (fresh, unchanged) or not (stale, failed). */
    readonly since: string;
    /** When the last build that visited it ended; null if none has. */
    readonly visited: string | null;
    /** When the origin last confirmed the published data; null if there is none. */
    readonly confirmed: string | null;
    /** Stable code of what went wrong; null if nothing did. */
    readonly code: string | null;
    /** The same as a sentence. */
    readonly reason: string | null;
    /** Codes of what waits for the operator's confirmation: an index that shrank, another key, an older Release. */
    readonly held_back: ReadonlyArray<string>;
    /** What is wrong with the published data; the findings document of the repository explains it. */
    readonly findings: ReadonlyArray<{
      /** Code of what is wrong; stable. */
      readonly code: 'address-refused' | 'port-refused' | 'scheme-refused' | 'redirects' | 'redirect-insecure' | 'redirect-unreadable' | 'no-network' | 'dns' | 'connection' | 'certificate-expired' | 'certificate-untrusted' | 'certificate-name' | 'tls' | 'timeout' | 'too-slow' | 'too-large' | 'headers-too-large' | 'truncated' | 'protocol' | 'aborted' | 'origin-busy' | 'server-error' | 'budget-exceeded' | 'backing-off' | 'release-missing' | 'release-forbidden' | 'release-html' | 'release-empty' | 'release-unreadable' | 'release-length-unknown' | 'release-older' | 'signature-missing' | 'signature-unanswered' | 'signature-lost' | 'signature-bad' | 'signature-weak' | 'signature-binary' | 'signature-key-changed' | 'signature-key-expired' | 'signature-key-revoked' | 'signature-expired' | 'index-missing' | 'index-forbidden' | 'index-html' | 'index-empty' | 'index-wrong-compression' | 'index-truncated' | 'index-corrupt' | 'index-bomb' | 'index-trailing-garbage' | 'index-too-large' | 'index-unreadable' | 'index-length-unknown' | 'index-encoded' | 'index-mismatch' | 'index-unverified' | 'index-shrunken' | 'store-failed' | 'internal' | 'release-line-malformed' | 'release-blank-line' | 'release-field-repeated' | 'signatures-too-many' | 'release-field-oversized' | 'release-encoding-not-utf8' | 'release-hash-malformed' | 'release-hash-empty' | 'release-entry-conflict' | 'release-architecture-singular' | 'release-payment-gateway-malformed' | 'release-expired' | 'release-in-future' | 'release-date-unreadable' | 'release-without-hashes' | 'release-weak-hashes' | 'index-not-listed' | 'index-gone' | 'index-variants-differ' | 'index-several-streams' | 'inrelease-unsigned' | 'inrelease-error' | 'signature-unreadable' | 'payment-endpoint-unreadable' | 'extras-unanswered' | 'depiction-unusable' | 'redirected' | 'address-former' | 'snapshot-damaged' | 'package-missing' | 'package-malformed' | 'version-missing' | 'version-unreadable' | 'version-malformed' | 'architecture-missing' | 'architecture-malformed' | 'filename-missing' | 'filename-malformed' | 'size-missing' | 'size-malformed' | 'installed-size-malformed' | 'sha256-malformed' | 'icon-malformed' | 'header-malformed' | 'native-depiction-malformed' | 'relation-malformed' | 'field-malformed' | 'field-commented-out' | 'field-repeated' | 'continuation-orphaned' | 'encoding-not-utf8' | 'stanza-oversized' | 'stanza-empty' | 'stanza-duplicate' | 'records-too-many' | 'versions-too-many' | 'field-oversized' | 'record-oversized' | 'publication-too-large' | 'provides-too-many' | 'sections-too-many' | 'package-bytes-changed' | 'package-diverges';
      readonly weight: 'broken' | 'weak' | 'note';
      /** Number of occurrences. */
      readonly count: number;
    }>;
    /** One letter for each build, in their order: f fresh, u unchanged, s stale, x failed, - not visited (or not in the index yet, or the build ended before). */
    readonly history: string;
  }>;
}

export interface Status {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly data: StatusRecord;
}

export interface Landing {
  readonly status: '200 OK';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly data: LandingRecord;
}

export interface Health {
  readonly status: '200 OK' | '503 Service Unavailable';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly data: HealthRecord;
}

export interface Liveness {
  readonly status: '200 OK';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
}

export interface Readiness {
  readonly status: '200 OK' | '503 Service Unavailable';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
}

export interface Ingest {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  /** Number of downloads counted: those of known packages and versions, once for each network, version and day. */
  readonly count: number;
}

export interface DownloadCount {
  /** Package identifier. */
  readonly package_id: string;
  /** All counted downloads, of every version. */
  readonly total: number;
  /** Downloads of today and the 29 days before, in UTC. */
  readonly last_30_days: number;
  /** Days among the last 400 with downloads, oldest first. */
  readonly daily: ReadonlyArray<{
    /** A day, in UTC. */
    readonly day: string;
    readonly count: number;
  }>;
}

export interface DownloadCountAnswer {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  readonly data: DownloadCount;
}

export interface DownloadTotal {
  /** Package identifier. */
  readonly package_id: string;
  /** All downloads by the end of that day, of every version. */
  readonly total: number;
  /** Downloads of the last 30 days up to it, in UTC. */
  readonly last_30_days: number;
}

export interface DownloadList {
  readonly message: '200 Successful';
  /** When the content last changed; in a computed answer, now. */
  readonly date: string;
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<DownloadTotal>;
}

export interface Generation {
  readonly format: 1;
  /** One more than that of the generation before, or greater where an older publication was restored in between; 1 for the first. */
  readonly number: number;
  readonly date: string;
  /** The number of the generation before; null where that is not known. */
  readonly previous: number | null;
  /** The whole index as an SQLite database, compressed (zstd). */
  readonly catalog: {
    /** Relative to the address of the host, as every path here. */
    readonly path: string;
    /** Of the plain file. */
    readonly sha256: string;
    /** Bytes of the plain file. */
    readonly size: number;
    /** Bytes of the file at `path`. */
    readonly compressed_size: number;
  };
  readonly documents: {
    /** How many files are published, those that tell of generations left out. */
    readonly count: number;
    /** SHA-256 of the inventory: a line for each of these files, as `sha256sum` prints it, in the order of their paths. */
    readonly digest: string;
    /** Where that text is, compressed (zstd); with `differences`, where that of an earlier generation is. */
    readonly inventory: string;
    /** Where the lines are in which the inventory differs from the text at `inventory`, compressed (zstd). */
    readonly differences?: string;
  };
  /** Where the changes since the generation before are. */
  readonly changes: string;
  /** Where the list of the portions of the catalog is, if it has any, and its SHA-256. */
  readonly portions?: {
    readonly path: string;
    readonly sha256: string;
  };
}

export interface PackageChange {
  readonly package_id: string;
  /** The slug of the repository. */
  readonly repository: string;
  readonly change: 'added' | 'updated' | 'removed';
  /** The newest version now; null where it is gone. */
  readonly version: string | null;
  /** The newest version before; null where there was none. */
  readonly previous_version: string | null;
}

export interface ChangeList {
  readonly format: 1;
  /** The number of the generation that these changes led to. */
  readonly number: number;
  readonly date: string;
  /** The number of the generation from which they lead; null where that is not known, and all is to be taken anew. */
  readonly previous: number | null;
  readonly documents: {
    /** The paths of the files that are new or have other bytes, in order. */
    readonly written: ReadonlyArray<string>;
    /** The paths of the files that are gone, in order. */
    readonly removed: ReadonlyArray<string>;
  };
  /** What happened to packages of repositories that were there before and still are. Those of a repository that is new or gone are not listed: all of them came or went with it. */
  readonly packages: ReadonlyArray<PackageChange>;
}

export interface Error {
  readonly message: string;
  readonly error: string;
  readonly date: string;
}

export interface NotFound {
  readonly message: '404 Not Found';
  readonly date: string;
}

export interface Download {
  readonly package_id: string;
  readonly package_version: string;
  readonly package_author?: string | null;
  readonly package_maintainer?: string | null;
  readonly repository_uri?: string | null;
  readonly repository_suite?: string | null;
  readonly repository_component?: string | null;
}

export type Downloads = ReadonlyArray<Download>;

export interface JsonFeed {
  readonly version: 'https://jsonfeed.org/version/1.1';
  readonly title: string;
  readonly home_page_url: string;
  readonly feed_url: string;
  readonly icon: string;
  readonly favicon: string;
  readonly items: ReadonlyArray<{
    readonly id: string;
    readonly url: string;
    readonly title: string;
    readonly content_text: string;
    readonly date_published: string;
    readonly authors: ReadonlyArray<{
      readonly name: string;
    }>;
    readonly tags: ReadonlyArray<string>;
  }>;
}

export interface Badge {
  readonly schemaVersion: 1;
  /** The text on the left: the name of this service. */
  readonly label: string;
  /** The text on the right: the state of the repository. */
  readonly message: string;
  /** Background of the right side. */
  readonly color: string;
  /** Background of the left side. */
  readonly labelColor: string;
  /** Whether it could never be read, or is unsafe. */
  readonly isError: boolean;
}
